# SPDX-License-Identifier: MIT
"""packaging/compose without a container engine: the files agree with each other and with the documentation, and each program
that is here accepts its configuration."""
import os
import re
import shutil
import subprocess

import serving
import tap
import yaml

FOLDER = "packaging/compose"
TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"


def text_of(path):
    with open(path) as file:
        return file.read()


def block(kind):
    """The first block of this kind in the guide."""
    return re.search(rf"^```{kind}\n(.*?)^```", text_of("docs/guides/several-servers.md"), re.S | re.M)[1]


def ran(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=serving.PATIENCE_S, **more)
    return done.returncode, done.stdout + done.stderr


def files_agree():
    made = yaml.safe_load(text_of(f"{FOLDER}/compose.yaml"))
    services = made["services"]
    servers = [name for name, it in services.items() if it["image"].startswith("firn")]
    tap.same("three servers", ["firn1", "firn2", "firn3"], servers)
    used = {volume.split(":")[0] for it in services.values() for volume in it["volumes"]}
    known = {os.path.normpath(f"{FOLDER}/{path}") for path in used if path.startswith(".")} - {f"{FOLDER}/tokens", f"{FOLDER}/token"}
    tap.same("every file that is mounted is there", [], [path for path in known if not os.path.isfile(path)])
    tap.same("every volume is declared", {path for path in used if not path.startswith(".")}, set(made["volumes"]))
    tap.same("what a service waits for has a health check", [], [
        other for it in services.values() for other in it.get("depends_on", {}) if "healthcheck" not in services[other]
    ])
    image = text_of("packaging/Containerfile.stores")
    check = services["firn1"]["healthcheck"]["test"]
    tap.check("servers are checked by --check-ready, by the program of their image", check[0] == "CMD" and f'"{check[1]}"' in image and check[2:] == ["--check-ready"], check)
    tap.check("the image is tagged as Compose expects", services["firn1"]["image"] in image)
    drain = int(re.search(r"drain = (\d+)s", text_of(f"{FOLDER}/firn.ini"))[1])
    tap.check("servers may drain and stop", int(services["firn1"]["stop_grace_period"].rstrip("s")) >= drain + 5 + 10)
    for name in ("nginx.conf", "prometheus.yml"):
        found = set(re.findall(r"(firn\d):7380", text_of(f"{FOLDER}/{name}")))
        tap.same(f"{name} has every server", set(servers), found)
    guide = block("nginx")
    mine = text_of(f"{FOLDER}/nginx.conf").split("\n", 2)[2]
    hosts = iter(servers)
    tap.same("nginx is configured as the guide says", re.sub(r"10\.0\.0\.\d", lambda _: next(hosts), guide), mine)
    lines = [line for line in text_of(f"{FOLDER}/firn.ini").splitlines() if not line.startswith(("#", "access_log"))]
    shown = [line for line in block("ini").splitlines() if not line.startswith("store")]
    tap.same("and each server, except for its store", lines, shown)
    job = yaml.safe_load(text_of(f"{FOLDER}/prometheus.yml"))["scrape_configs"][0]
    shown = yaml.safe_load(block("yaml"))["scrape_configs"][0]
    tap.same("and Prometheus, except for the addresses", sorted(job), sorted(shown))
    tap.same("whose job has the same name", job["job_name"], shown["job_name"])


def programs_accept():
    os.makedirs(f"{TMPDIR}/compose/logs", exist_ok=True)
    folder = f"{TMPDIR}/compose"
    tokens = f"{folder}/tokens"
    with open(tokens, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write("admin a-token-of-the-tests compose\n")
    for name, text in (("firn.ini", text_of(f"{FOLDER}/firn.ini")), ("the firn.ini of the guide", block("ini"))):
        with open(f"{folder}/firn.ini", "w") as file:
            file.write(text.replace("/etc/firn/tokens", tokens))
        environment = {**os.environ, **({} if "\nstore" in text else {"FIRN_STORE": "postgres://firn:secret@postgres/firn"})}
        status, words = ran([PROGRAM, "--check-config", "-c", f"{folder}/firn.ini"], env=environment)
        tap.check(f"firn serve accepts {name}", status == 0 or "module for postgres" in words, words)
    if shutil.which("nginx", path="/usr/sbin:/usr/bin"):
        site = re.sub(r"firn\d:", "127.0.0.1:", text_of(f"{FOLDER}/nginx.conf"))
        with open(f"{folder}/nginx.conf", "w") as file:
            file.write(f"pid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{ access_log off;\n{site}\n}}\n")
        status, words = ran([shutil.which("nginx", path="/usr/sbin:/usr/bin"), "-t", "-p", folder, "-c", f"{folder}/nginx.conf"])
        tap.check("nginx accepts nginx.conf", status == 0, words)
    else:
        tap.skip("nginx accepts nginx.conf", "nginx is missing")
    if shutil.which("promtool"):
        for path in (f"{FOLDER}/prometheus.yml", "packaging/monitoring/alerts.yml"):
            shutil.copy(path, folder)
        with open(f"{folder}/token", "w") as file:
            file.write("a-token-of-the-tests")
        status, words = ran(["promtool", "check", "config", f"{folder}/prometheus.yml"])
        tap.check("Prometheus accepts prometheus.yml", status == 0, words)
    else:
        tap.skip("Prometheus accepts prometheus.yml", "promtool is missing")


tap.run([files_agree, programs_accept])
