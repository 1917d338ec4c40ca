# SPDX-License-Identifier: MIT
"""packaging/kubernetes: the manifests agree with each other and with their firn.ini, each selector finds the pods that it
should, and servers with these files do what docs/guides/kubernetes.md says. kubectl renders them, where there is one (Debian
has none)."""
import configparser
import glob
import os
import re
import shutil
import signal
import subprocess

import redis
import serving
import tap
import yaml

FOLDER = "packaging/kubernetes"
TMPDIR = os.environ["TMPDIR"]
PROGRAM = os.path.dirname(os.environ["FIRN"]) + "/firn-serve"
KINDS = {"base": "Deployment", "sidecar": "Deployment", "statefulset": "StatefulSet"}
IMAGES = {"base": "firn-stores:", "sidecar": "firn-stores:", "statefulset": "firn:"}  # firn has the SQLite store only
TOKEN = "0123456789abcdef0123"
GIVE_BACK_S = 10
SELECTORS = {
    "Deployment": "selector", "StatefulSet": "selector", "Service": "selector", "PodDisruptionBudget": "selector",
    "NetworkPolicy": "podSelector",
}
OTHERS = {"a client": {"firn-client": "yes"}, "another": {"app.kubernetes.io/name": "shop"}, "without labels": {}}
CLIENTS = ["NetworkPolicy.spec.ingress.from.podSelector"]  # the only selector that finds clients instead of servers


def documents(name):
    """All objects of a folder by their kind; its kustomization is one of them."""
    found = {}
    for path in sorted(glob.glob(f"{FOLDER}/{name}/*.yaml")):
        with open(path) as file:
            for it in yaml.safe_load_all(file):
                found[it["kind"]] = it
    return found


def settings_of(name):
    parser = configparser.ConfigParser()
    parser.read(f"{FOLDER}/{name}/firn.ini")
    return parser


def the_container(pod):
    return next(it for it in [*pod.get("initContainers", []), *pod["containers"]] if it["name"] == "firn")


def agrees(name):
    """Objects that would be refused, or would never become ready, because two files say different things."""
    all_ = documents(name)
    kustomization, workload = all_["Kustomization"], all_[KINDS[name]]
    pod, settings = workload["spec"]["template"]["spec"], settings_of(name)["server"]
    container = the_container(pod)
    files = sorted(os.path.basename(path) for path in glob.glob(f"{FOLDER}/{name}/*.yaml"))
    yield sorted([*kustomization["resources"], "kustomization.yaml"]), files
    label = kustomization["labels"][0]
    yield (label["includeSelectors"], label.get("includeTemplates")), (False, True)
    resources = [it for kind, it in all_.items() if kind != "Kustomization"]
    yield from selections(resources, {"firn": label["pairs"], **OTHERS})
    volumes = {it["name"]: it for it in pod["volumes"]}
    claims = {it["metadata"]["name"] for it in workload["spec"].get("volumeClaimTemplates", [])}
    mounts = {it["name"]: it["mountPath"] for it in container["volumeMounts"]}
    yield sorted(mounts), sorted({*volumes, *claims})
    yield volumes["config"]["configMap"]["name"], kustomization["configMapGenerator"][0]["name"]
    yield container["args"], [f"--config={mounts['config']}/firn.ini"]
    yield settings["tokens"], f"{mounts['secret']}/tokens"
    yield volumes["secret"]["secret"]["defaultMode"], 0o440
    ports = {it["name"]: it["containerPort"] for it in container["ports"]}
    tcp = [settings[each] for each in ("resp", "http") if not settings[each].startswith("unix:")]
    yield sorted(ports.values()), sorted(int(each.rsplit(":")[-1]) for each in tcp)
    probes = [container[each]["httpGet"] for each in ("startupProbe", "readinessProbe", "livenessProbe") if each in container]
    yield [], [each for each in probes if each["port"] not in ports or each["path"] not in ("/healthz", "/readyz")]
    least = int(settings.get("drain", "0s")[:-1]) + int(settings.get("stop", "5s")[:-1]) + GIVE_BACK_S
    yield pod["terminationGracePeriodSeconds"] >= least, True
    yield container["securityContext"]["readOnlyRootFilesystem"], True
    if "Service" in all_:
        yield [], [it for it in all_["Service"]["spec"]["ports"] if ports.get(it["targetPort"]) != it["port"]]
    for key in ("resp", "store"):
        path = settings.get(key, "").partition(":")[2].partition("?")[0]
        if path.startswith("/"):
            yield os.path.dirname(path) in mounts.values(), True


def selectors(it, path):
    """The selectors of pods in an object, each with its path."""
    if isinstance(it, list):
        for each in it:
            yield from selectors(each, path)
    elif isinstance(it, dict):
        for key, value in it.items():
            if key in ("selector", "podSelector", "labelSelector"):
                yield f"{path}.{key}", value
            else:
                yield from selectors(value, f"{path}.{key}")


def selections(resources, pods):
    """The pods that each selector finds among `pods`, and the pods that it should find. None selects nothing, {} everything."""
    for resource in resources:
        kind = resource["kind"]
        found = dict(selectors(resource, kind))
        if kind in SELECTORS:
            yield (kind, f"{kind}.spec.{SELECTORS[kind]}" in found), (kind, True)
        for path, selector in found.items():
            wanted = selector.get("matchLabels", selector)
            names = [name for name, labels in pods.items() if wanted.items() <= labels.items()]
            yield (path, names), (path, ["a client"] if path in CLIENTS else ["firn"])
        for rule in resource["spec"].get("ingress", []) if kind == "NetworkPolicy" else []:
            ports = {"resp", "http"} if any("podSelector" in each for each in rule["from"]) else {"http"}
            yield {it["port"] for it in rule["ports"]}, ports


def manifests():
    for name in KINDS:
        pairs = list(agrees(name))
        tap.same(f"{name}: its files agree", [], [(found, wanted) for found, wanted in pairs if found != wanted])
    if shutil.which("kubectl"):
        for name in KINDS:
            done = subprocess.run(["kubectl", "kustomize", f"{FOLDER}/{name}"], capture_output=True, text=True, timeout=120)
            rendered = list(yaml.safe_load_all(done.stdout)) if done.returncode == 0 else []
            workload = next((it for it in rendered if it["kind"] == KINDS[name]), None)
            tap.check(f"{name}: kubectl renders it", workload is not None, done.stderr)
            pod = workload["spec"]["template"]
            pairs = list(selections(rendered, {"firn": pod["metadata"]["labels"], **OTHERS}))
            wrong = [(found, wanted) for found, wanted in pairs if found != wanted]
            tap.same(f"{name}: rendered, each selector finds its pods and only them", [], wrong)
            tap.check(f"{name}: the image has a version", the_container(pod["spec"])["image"].startswith(IMAGES[name]))
            configs = [it["metadata"]["name"] for it in rendered if it["kind"] == "ConfigMap"]
            used = [it["configMap"]["name"] for it in pod["spec"]["volumes"] if "configMap" in it]
            tap.same(f"{name}: the pods use the rendered configuration", configs, used)
    else:
        print("# kubectl is missing, which Debian does not have: nothing renders the manifests")


def monitor():
    """The ServiceMonitor finds the Services, their port and the Secret of the guide; each manifest says that no cluster ran it."""
    with open(f"{FOLDER}/servicemonitor.yaml") as file:
        spec = yaml.safe_load(file)["spec"]
    wanted = spec["selector"]["matchExpressions"][0]
    endpoint = spec["endpoints"][0]
    for name in ("base", "statefulset"):
        all_ = documents(name)
        label = all_["Kustomization"]["labels"][0]["pairs"][wanted["key"]]
        tap.check(f"{name}: the ServiceMonitor finds its Service", label in wanted["values"], label)
        ports = [it["name"] for it in all_["Service"]["spec"]["ports"]]
        tap.check(f"{name}: and the port", endpoint["port"] in ports, ports)
    with open("docs/guides/kubernetes.md") as file:
        text = file.read()
    secret = endpoint["authorization"]["credentials"]
    tap.check("the guide creates its Secret", f"create secret generic {secret['name']} --from-file={secret['key']}\n" in text, secret)
    job = next(it["replacement"] for it in endpoint["relabelings"] if it["targetLabel"] == "job")
    tap.same("its job has the name that the alerts use", "firn", job)
    said = "# No cluster has run this file: "
    silent = [path for path in glob.glob(f"{FOLDER}/**/*.yaml", recursive=True) if said not in open(path).read()]
    tap.same("each manifest says at its top that no cluster has run it", [], silent)


def guide():
    """The statements of docs/guides/kubernetes.md about these files."""
    with open("docs/guides/kubernetes.md") as file:
        text = file.read()
    for name in ("base", "sidecar"):
        pod = documents(name)["Deployment"]["spec"]["template"]["spec"]
        secret = next(it["secret"] for it in pod["volumes"] if it["name"] == "secret")
        mounted = {f"/etc/firn/secret/{it['path']}" for it in secret["items"]}
        named = set(re.findall(r"/etc/firn/secret/[a-z.]+", text))
        tap.same(f"{name}: the files of the Secret that the guide names are mounted", set(), named - mounted)
    job = yaml.safe_load(re.search(r"```yaml\n(scrape_configs:.*?)```", text, re.S)[1])["scrape_configs"][0]
    tap.same("the guide's job for Prometheus has the name that the alerts use", "firn", job["job_name"])
    kept = next(it["regex"] for it in job["relabel_configs"] if it.get("action") == "keep")
    for name, kind in KINDS.items():
        pod = documents(name)[kind]["spec"]["template"]["spec"]
        containers = [the_container(pod), *pod["containers"]]
        targets = {f"{each['name']};{port['containerPort']}" for each in containers for port in each.get("ports", [])}
        tap.same(f"{name}: it scrapes the HTTP port of firn", ["firn;7380"], [it for it in targets if re.fullmatch(kept, it)])
    if shutil.which("promtool"):
        del job["kubernetes_sd_configs"]  # Debian's Prometheus is built without it
        job["authorization"]["credentials_file"] = "token"
        for name, content in (("token", TOKEN), ("prometheus.yml", yaml.safe_dump({"scrape_configs": [job]}))):
            with open(f"{TMPDIR}/{name}", "w") as file:
                file.write(content)
        done = subprocess.run(["promtool", "check", "config", f"{TMPDIR}/prometheus.yml"], capture_output=True, text=True, timeout=120)
        tap.check("Prometheus accepts its token and its labels", done.returncode == 0, done.stdout + done.stderr)
    else:
        tap.skip("Prometheus accepts its token and its labels", "promtool is missing")


class Pod:
    """A server with the firn.ini of a folder; its files are below TMPDIR, its ports free ones, its host name `host`."""

    def __init__(self, name, host, store=None):
        self.folder = f"{TMPDIR}/{name}.{host}"
        os.makedirs(f"{self.folder}/state", mode=0o700)
        self.port, self.http = serving.free_port(), serving.free_port()
        with open(f"{FOLDER}/{name}/firn.ini") as file:
            text = file.read()
        for old, new in (
            ("0.0.0.0:7379", f"127.0.0.1:{self.port}"), ("0.0.0.0:7380", f"127.0.0.1:{self.http}"), ("/etc/firn/secret", self.folder),
            ("/run/firn/resp", f"{self.folder}/resp"), ("/var/lib/firn", f"{self.folder}/state"), ("drain = 15s", "drain = 1s"),
            ("[server]", "[server]\nunsafe = on"),
        ):
            text = text.replace(old, new)
        with open(f"{self.folder}/firn.ini", "w") as file:
            file.write(text)
        with open(os.open(f"{self.folder}/tokens", os.O_CREAT | os.O_WRONLY, 0o440), "w") as file:
            file.write(f"issue {TOKEN}\n")
        named = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', host]
        words = [*named, PROGRAM, f"--config={self.folder}/firn.ini"]
        checked = subprocess.run([*words, "--check-config"], capture_output=True, text=True, env=self.environment(store), timeout=120)
        tap.check(f"{name}: firn.ini is valid", checked.returncode == 0, checked.stderr)
        self.process = serving.start(words, f"{self.folder}/log", environment=self.environment(store))
        serving.wait_for("readiness", self.is_ready)

    @staticmethod
    def environment(store):
        return {**os.environ, **({"FIRN_STORE": store} if store else {})}

    def is_ready(self):
        if self.process.poll() is not None:
            with open(f"{self.folder}/log") as log:
                raise ChildProcessError(log.read())
        done = subprocess.run(["curl", "-fs", f"http://127.0.0.1:{self.http}/readyz"], capture_output=True, timeout=120)
        return done.returncode == 0

    def client(self):
        where = {"unix_socket_path": f"{self.folder}/resp"} if os.path.exists(f"{self.folder}/resp") else {"port": self.port}
        return redis.Redis(password=TOKEN, decode_responses=True, socket_timeout=serving.PATIENCE_S, **where)

    def issue(self, n=1000):
        return self.client().execute_command("FIRN.NEW", "orders", "COUNT", n)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(serving.PATIENCE_S)


def served(name, stores):
    """Two pods of a folder issue IDs at once."""
    pods = [Pod(name, f"{name}-{i}", store) for i, store in enumerate(stores)]
    ids = [id for _ in range(5) for pod in pods for id in pod.issue()]
    tap.same(f"{name}: no ID of two pods comes twice", len(ids), len(set(ids)))
    return pods


def ended(name, pods):
    tap.same(f"{name}: SIGTERM ends them with 0", [0] * len(pods), [pod.end() for pod in pods])


def shared_store():
    for name in ("base", "sidecar"):
        pods = served(name, [f"sqlite:{TMPDIR}/{name}.db?create=yes"] * 2)
        ended(name, pods)


def ordinals():
    pods = served("statefulset", [None, None])
    for i, pod in enumerate(pods):
        fields = pod.client().execute_command("FIRN.SHOW", pod.issue(1)[0], "SCHEME", "snowflake")
        tap.check(f"statefulset: the node of pod {i} is {i}", fields[fields.index("fields") + 1][2:4] == ["worker", i], fields)
        try:
            pod.client().execute_command("FIRN.NEW", "snowflake")
            tap.check("statefulset: clients cannot open another generator", False)
        except redis.ResponseError as error:
            tap.check("statefulset: clients cannot open another generator", "max_generators" in str(error), error)
    ended("statefulset", pods)


tap.run([manifests, monitor, guide, shared_store, ordinals])
