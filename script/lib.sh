# Shared by script/up and script/test; sourced, not run. Needs $root, the checkout.
# shellcheck shell=sh
venv="$root/.venv"

say() { printf '%s\n' "$*" >&2; }

# What an installation is made of: the Python sources themselves are linked (-e), the rest decides whether it is stale.
fingerprint() {
    (
        cd "$root"
        {
            # As in hatch_build.py: the rest of web/ is no source.
            find web \( -name node_modules -o -name dist -o -name coverage -o -name test -o -name .vite \) -prune \
                -o -type f -print
            find . -maxdepth 1 \( -name pyproject.toml -o -name hatch_build.py \) -print
        } | LC_ALL=C sort | while IFS= read -r file; do cksum "$file"; done
        "$venv/bin/python" --version
    ) | cksum
}

# The Debian packages without which no environment can be made.
python_packages() {
    if ! command -v python3 >/dev/null 2>&1; then
        echo python3 python3-venv
    elif ! python3 -c 'import ensurepip, venv' >/dev/null 2>&1; then
        echo python3-venv
    fi
}

# Install system packages as root; else name the one command that does.
install_packages() {
    if [ "$(id -u)" -ne 0 ]; then
        say "These system packages are missing. Run this, then the script again:  sudo apt-get install -y $*"
        exit 1
    fi
    if ! command -v apt-get >/dev/null 2>&1; then
        say "These packages are missing; install them with your system's package manager: $*"
        exit 1
    fi
    say "Installing $* ..."
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

# Make .venv and install Iris into it with these extras, if what is there is stale.
install_iris() {
    stamp="$venv/.iris-$1"
    if ! [ -x "$venv/bin/pip" ]; then
        packages=$(python_packages)
        if [ -n "$packages" ]; then
            # shellcheck disable=SC2086 # a list of names without spaces
            install_packages $packages
        fi
        if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            say "Iris needs Python 3.11 or newer; this is $(python3 --version)."
            exit 1
        fi
        say "Making $venv ..."
        python3 -m venv "$venv"
    fi
    if ! [ -f "$root/src/hermes_iris/static/index.html" ] || ! [ -f "$stamp" ] ||
        [ "$(cat "$stamp")" != "$(fingerprint)" ]; then
        say "Installing Iris [$1] into .venv (a minute on the first run) ..."
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable "${root}[$1]" >&2
        # Taken anew: building the web app may have written files of its own.
        fingerprint >"$stamp"
    fi
}
