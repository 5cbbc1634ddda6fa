// The `ws` of Node as a server, told what to do as `servers.py` is: node servers.mjs PORT DEFLATE.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const { WebSocketServer } = createRequire(process.cwd() + "/")("ws");
const [port, deflate] = process.argv.slice(2);
const server = new WebSocketServer({
  host: "127.0.0.1",
  port: Number(port),
  perMessageDeflate: deflate === "true",
  backlog: 4096,
});
const devices = [];
server.on("connection", (device) => {
  device.send("{}");
  devices.push(device);
});
server.on("listening", () => console.log("{}"));

for await (const line of createInterface({ input: process.stdin })) {
  const frames = JSON.parse(line).frames.map((frame) => JSON.stringify(frame));
  const before = process.cpuUsage();
  await new Promise((done) => {
    let left = devices.length * frames.length;
    for (const text of frames) for (const device of devices) device.send(text, () => --left || done());
  });
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ ns: (user + system) * 1000 }));
}
process.exit(0);
