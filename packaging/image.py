#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes an OCI image of the static programs, for both processors: image.py BUILD/static OUT [SOURCE]. The same bytes each time.

OUT is an OCI layout: skopeo copy oci:OUT docker://REGISTRY/firn:VERSION, or podman pull oci:OUT. Settings as in Containerfile,
which unpacks the file root.tar that is written next to the programs. SOURCE is the URL of the site with this repository, for the
labels, which also have the version, the commit and its time."""
import datetime
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
USER = 65532  # "nonroot" of other images without a system
TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def add(tar, name, mode, content=None, owner=0):
    entry = tarfile.TarInfo(name)
    entry.mode, entry.uid, entry.gid, entry.mtime = mode, owner, owner, 0
    entry.type = tarfile.REGTYPE if content is not None else tarfile.DIRTYPE
    entry.size = len(content or b"")
    tar.addfile(entry, io.BytesIO(content) if content is not None else None)


def layer(folder):
    """The only layer, as a tar file."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        add(tar, "bin", 0o755)
        for name in ("firn", "firn-serve"):
            with open(os.path.join(folder, name), "rb") as file:
                add(tar, "bin/" + name, 0o755, file.read())
        add(tar, "etc", 0o755)
        add(tar, "etc/group", 0o644, b"firn:x:%d:\n" % USER)
        add(tar, "etc/passwd", 0o644, b"firn:x:%d:%d::/:/bin/false\n" % (USER, USER))
        add(tar, "proc", 0o555)
        add(tar, "var", 0o755)
        add(tar, "var/lib", 0o755)
        add(tar, "var/lib/firn", 0o700, owner=USER)
    return out.getvalue()


def git(*words):
    """Git's facts about the tree's last commit; nothing without git, or in a tree from an archive."""
    try:
        done = subprocess.run(["git", "-C", TREE, *words], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def labels(source):
    """The annotations of OCI that are known."""
    with open(os.path.join(TREE, "include/firn/firn.h"), encoding="utf-8") as header:
        version = re.search(r'^#define FIRN_VERSION "(.*)"', header.read(), re.M)[1]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct") or 0)
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    known = {"title": "firn", "description": "unique IDs for distributed systems", "licenses": "MIT", "version": version,
             "created": created, "revision": git("rev-parse", "HEAD"), "source": source, "url": source}
    return {"org.opencontainers.image." + name: value for name, value in known.items() if value}


def main(static, out, source=""):
    described = labels(source)
    created = described["org.opencontainers.image.created"]
    blobs = os.path.join(out, "blobs", "sha256")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(blobs)

    def blob(content, kind, **more):
        digest = hashlib.sha256(content).hexdigest()
        with open(os.path.join(blobs, digest), "wb") as file:
            file.write(content)
        return {"mediaType": "application/vnd.oci.image." + kind, "digest": "sha256:" + digest, "size": len(content), **more}

    def text(value):
        return json.dumps(value, sort_keys=True).encode()

    manifests = []
    for processor, architecture in ARCHITECTURES.items():
        folder = os.path.join(static, processor)
        if not os.path.exists(os.path.join(folder, "firn-serve")):
            continue
        tar = layer(folder)
        with open(os.path.join(folder, "root.tar"), "wb") as file:
            file.write(tar)
        packed = blob(gzip.compress(tar, 9, mtime=0), "layer.v1.tar+gzip")
        config = {
            "architecture": architecture, "os": "linux", "created": created,
            "config": {
                "User": f"{USER}:{USER}", "Env": ["PATH=/bin", "XDG_STATE_HOME=/var/lib"], "Entrypoint": ["/bin/firn-serve"],
                "Volumes": {"/var/lib/firn": {}}, "ExposedPorts": {"7379/tcp": {}, "7380/tcp": {}}, "StopSignal": "SIGTERM",
                "Healthcheck": {  # of Docker's image format; engines that do not know it ignore it
                    "Test": ["CMD", "/bin/firn-serve", "--check-ready"],
                    "Interval": 10_000_000_000, "Timeout": 5_000_000_000, "StartPeriod": 10_000_000_000,
                },
                "Labels": described,
            },
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest()]},
            "history": [{"created": created, "created_by": "packaging/image.py"}],
        }
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "config": blob(text(config), "config.v1+json"), "layers": [packed]}
        manifests.append(blob(text(manifest), "manifest.v1+json", platform={"architecture": architecture, "os": "linux"}))
    if not manifests:
        sys.exit(f"firn: {static} contains no programs: run make static first")
    index = blob(text({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests}),
                 "index.v1+json", annotations={"org.opencontainers.image.ref.name": "firn"})
    with open(os.path.join(out, "oci-layout"), "wb") as file:
        file.write(text({"imageLayoutVersion": "1.0.0"}))
    with open(os.path.join(out, "index.json"), "wb") as file:
        file.write(text({"schemaVersion": 2, "manifests": [index]}))
    print(f"firn: the image is {out}: {len(manifests)} processors")


if __name__ == "__main__":
    main(*sys.argv[1:])
