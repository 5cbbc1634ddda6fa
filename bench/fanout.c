/* The two ends of the benchmarks that are not Iris: many devices, and the least that a server could do.
 *
 *   fanout devices PORT COUNT HELLO [deflate]
 *       COUNT WebSocket devices; HELLO is a file with what each sends first. For every number on stdin: waits until each
 *       has got so many messages more, then prints how many bytes all have got by now, and when (ns, monotonic clock).
 *   fanout writer PORT COUNT
 *       The limit: takes COUNT connections, then for every "FRAMES SIZE" on stdin writes so much to each of them with
 *       one write(), and prints the ns of CPU that the loop took.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) {
    perror(what);
    exit(2);
}

static int connected(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static char buffer[1 << 18];

/* One device's place in its stream of frames. */
struct device {
    int fd;
    uint64_t left; /* bytes of the payload that are still to come */
    int have;      /* bytes of the header that are here */
    uint8_t header[10];
    long messages;
};

static void parse(struct device *d, uint8_t *at, ssize_t size) {
    while (size > 0) {
        if (d->left) {
            uint64_t take = d->left < (uint64_t)size ? d->left : (uint64_t)size;
            d->left -= take, at += take, size -= take;
            if (!d->left) d->messages++;
            continue;
        }
        d->header[d->have++] = *at++, size--;
        int kind = d->have > 1 ? d->header[1] & 127 : 0, need = 2 + (kind == 126 ? 2 : kind == 127 ? 8 : 0);
        if (d->have < 2 || d->have < need) continue;
        for (int i = 2; i < need; i++) d->left = d->left << 8 | d->header[i];
        if (need == 2) d->left = kind;
        d->have = 0;
        if (!d->left) d->messages++;
    }
}

static int devices(int port, int count, const char *hello_file, const char *extension) {
    FILE *file = fopen(hello_file, "rb");
    if (!file) fail(hello_file);
    char hello[4096];
    size_t hello_size = fread(hello, 1, sizeof hello, file);
    struct device *all = calloc(count, sizeof *all);
    int poll = epoll_create1(0);
    for (int n = 0; n < count; n++) {
        int fd = all[n].fd = connected(port);
        char ask[512];
        int size = snprintf(ask, sizeof ask,
                            "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n",
                            port, extension);
        if (write(fd, ask, size) != size) fail("write");
        size_t got = 0;
        char *end;
        do {
            ssize_t more = read(fd, buffer + got, sizeof buffer - 1 - got);
            if (more <= 0) fail("handshake");
            buffer[got += more] = 0;
        } while (!(end = strstr(buffer, "\r\n\r\n")));
        if (write(fd, hello, hello_size) != (ssize_t)hello_size) fail("write");
        parse(&all[n], (uint8_t *)end + 4, got - (end + 4 - buffer));
        while (!all[n].messages) {
            ssize_t more = read(fd, buffer, sizeof buffer);
            if (more <= 0) fail("hello");
            parse(&all[n], (uint8_t *)buffer, more);
        }
        fcntl(fd, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = n};
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
    }
    puts("ready");
    fflush(stdout);
    long wanted = 1, more, bytes = 0;
    while (scanf("%ld", &more) == 1) {
        wanted += more;
        long behind = 0;
        for (int n = 0; n < count; n++) behind += all[n].messages < wanted;
        while (behind) {
            struct epoll_event events[512];
            int ready = epoll_wait(poll, events, 512, 20000);
            if (ready <= 0) fail("nothing came");
            for (int i = 0; i < ready; i++) {
                struct device *d = &all[events[i].data.u32];
                int late = d->messages < wanted;
                ssize_t size = read(d->fd, buffer, sizeof buffer);
                if (size <= 0) fail("lost");
                bytes += size;
                parse(d, (uint8_t *)buffer, size);
                behind -= late && d->messages >= wanted;
            }
        }
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        printf("%ld %ld\n", bytes, now.tv_sec * 1000000000 + now.tv_nsec);
        fflush(stdout);
    }
    return 0;
}

static long cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000 + t.tv_nsec;
}

static int writer(int port, int count) {
    int door = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(door, (struct sockaddr *)&at, sizeof at) || listen(door, 4096)) fail("listen");
    puts("{}");
    fflush(stdout);
    int *to = calloc(count, sizeof *to);
    const char *reply = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x02{}";
    for (int n = 0; n < count; n++) {
        if ((to[n] = accept(door, 0, 0)) < 0) fail("accept");
        setsockopt(to[n], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (read(to[n], buffer, sizeof buffer) <= 0) fail("handshake");
        if (write(to[n], reply, strlen(reply)) < 0) fail("write");
    }
    int frames, size;
    while (scanf("%d %d", &frames, &size) == 2) {
        uint8_t *data = calloc(frames, size + 4), *at = data;
        for (int n = 0; n < frames; n++) {
            *at++ = 0x81;
            if (size < 126) *at++ = size;
            else *at++ = 126, *at++ = size >> 8, *at++ = size & 255;
            at = (uint8_t *)memset(at, 'x', size) + size;
        }
        long before = cpu();
        for (int n = 0; n < count; n++)
            if (write(to[n], data, at - data) != at - data) fail("write");
        printf("%ld\n", cpu() - before);
        fflush(stdout);
        free(data);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc >= 5 && !strcmp(argv[1], "devices")) {
        const char *offer = argc > 5 ? "Sec-WebSocket-Extensions: permessage-deflate\r\n" : "";
        return devices(atoi(argv[2]), atoi(argv[3]), argv[4], offer);
    }
    if (argc == 4 && !strcmp(argv[1], "writer")) return writer(atoi(argv[2]), atoi(argv[3]));
    fprintf(stderr, "usage: fanout devices PORT COUNT HELLO [deflate] | fanout writer PORT COUNT\n");
    return 2;
}
