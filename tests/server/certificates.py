"""Certificates made on the spot, with the `openssl` of the machine."""

import subprocess
from pathlib import Path


def certificate(folder: Path, name: str = "iris.example", *more: str) -> tuple[str, str]:
    """A self-signed certificate and its key; `more` goes to openssl. The key of an elliptic curve is made at once."""
    folder.mkdir(exist_ok=True)
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
    _openssl(
        "req", "-x509", "-new", "-key", key, "-out", cert, "-subj", f"/CN={name}",
        "-addext", f"subjectAltName=DNS:{name},IP:127.0.0.1", *more,
    )  # fmt: skip
    return str(cert), str(key)


def ended(folder: Path) -> tuple[str, str]:
    """A certificate that is good no more, and its key."""
    cert, key = certificate(folder, "old")
    config, request = folder / "ca.cnf", folder / "old.csr"
    (folder / "index").touch()
    (folder / "serial").write_text("01")
    config.write_text(
        f"[ca]\ndefault_ca = d\n[d]\ndatabase = {folder}/index\nserial = {folder}/serial\nnew_certs_dir = {folder}\n"
        "policy = p\ndefault_md = sha256\n[p]\ncommonName = supplied\n"
    )
    _openssl("req", "-new", "-key", key, "-subj", "/CN=old", "-out", request)
    _openssl(
        "ca", "-batch", "-notext", "-selfsign", "-config", config, "-in", request, "-keyfile", key, "-out", cert,
        "-startdate", "20200101000000Z", "-enddate", "20200201000000Z",
    )  # fmt: skip
    return cert, key


def locked(key: str) -> str:
    """The same key under a password."""
    _openssl("ec", "-in", key, "-out", f"{key}.locked", "-aes128", "-passout", "pass:secret")
    return f"{key}.locked"


def _openssl(*arguments: str | Path) -> None:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
