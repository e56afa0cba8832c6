"""The manifest for Kubernetes and the container file do what they are for, as far as they run here.

Their commands run on this machine, in the places that Kubernetes or a builder would give them.
"""

import json
import shlex
import subprocess
from fnmatch import filter as matching
from pathlib import Path

import pytest
from recipes import ROOT, in_background, run_alone, until

import batchsolve

FOLDER = ROOT / "scripts" / "clusters"
MANIFEST = FOLDER / "kubernetes.yaml"
CONTAINER = FOLDER / "Containerfile"
RUNNING = {"Deployment", "Job"}


def documents(text):
    return list(pytest.importorskip("yaml").safe_load_all(text))


def pods(manifest):
    """Return the pods' templates, by the names of their only containers."""
    templates = [each["spec"]["template"] for each in manifest if each["kind"] in RUNNING]
    return {each["spec"]["containers"][0]["name"]: each for each in templates}


@pytest.fixture(scope="module")
def manifest():
    return documents(MANIFEST.read_text())


def test_the_manifest_has_the_official_schema(manifest):
    kubernetes = pytest.importorskip("kubernetes_validate")
    for document in manifest:
        kubernetes.validate(document, kubernetes.latest_version(), strict=True)


def test_names_in_the_manifest_are_those_of_its_other_parts(manifest):
    """A schema does not compare them."""
    named = {(each["kind"], each["metadata"]["name"]) for each in manifest}
    named.add(("Secret", "batchsolve-tls"))  # it is made by the command at the top
    assert "kubectl create secret generic batchsolve-tls" in MANIFEST.read_text()
    assert set(pods(manifest)) == {"scheduler", "worker", "count"}
    for template in pods(manifest).values():
        (container,) = template["spec"]["containers"]
        assert not template["spec"]["enableServiceLinks"]  # variables named BATCHSOLVE_…
        assert template["spec"]["securityContext"]["runAsNonRoot"]
        volumes = {each["name"]: each for each in template["spec"]["volumes"]}
        assert {each["name"] for each in container["volumeMounts"]} == set(volumes)
        settings, certificate = volumes["dask"]["projected"]["sources"]
        assert ("ConfigMap", settings["configMap"]["name"]) in named
        assert ("Secret", certificate["secret"]["name"]) in named
        if "runs" in volumes:
            claim = volumes["runs"]["persistentVolumeClaim"]["claimName"]
            assert ("PersistentVolumeClaim", claim) in named
    for each in manifest:
        if each["kind"] == "Deployment":
            labels = each["spec"]["template"]["metadata"]["labels"]
            assert each["spec"]["selector"]["matchLabels"] == labels
    (service,) = (each for each in manifest if each["kind"] == "Service")
    scheduler = pods(manifest)["scheduler"]
    assert service["spec"]["selector"] == scheduler["metadata"]["labels"]
    container = scheduler["spec"]["containers"][0]
    assert service["spec"]["ports"][0]["port"] == container["ports"][0]["containerPort"] == 8786


def test_the_commands_of_the_manifest_count_on_a_cluster_with_tls(tmp_path):
    text = MANIFEST.read_text()
    places = {"/etc/dask": tmp_path / "dask", "/runs": tmp_path / "runs"}
    for place, folder in places.items():
        folder.mkdir()
        text = text.replace(place, str(folder))
    manifest = documents(text)
    (config,) = (each for each in manifest if each["kind"] == "ConfigMap")
    for name, content in config["data"].items():
        (tmp_path / "dask" / name).write_text(content)
    containers = {name: pod["spec"]["containers"][0] for name, pod in pods(manifest).items()}
    command = {name: shlex.join(each["command"]) for name, each in containers.items()}
    probe = containers["scheduler"]["readinessProbe"]["httpGet"]
    (certificate,) = (line[4:] for line in text.splitlines() if line.startswith("#   openssl"))
    asks = f"urlopen('http://localhost:{probe['port']}{probe['path']}')"
    ready = f'python -c "from urllib.request import urlopen; {asks}" 2> refused'
    run_alone(
        tmp_path,
        f"(cd {tmp_path}/dask; {certificate})",
        in_background(command["scheduler"], "scheduler.log"),
        f"until {ready}; do sleep 0.1; done",
        in_background(command["worker"], "worker.log"),
        until("worker.log", "Starting established connection to tls:"),
        f"{command['count']} > count 2> said",
        f"{command['count']} > again 2>&1",  # as after the loss of a pod
        DASK_ROOT_CONFIG=str(tmp_path / "dask"),
    )
    home = tmp_path / "home"
    assert (home / "count").read_text() == (home / "again").read_text() == "365596\n"
    assert (home / "said").read_text() == ""


def instructions():
    """Return the instructions of the container file, each with its arguments."""
    lines = CONTAINER.read_text().splitlines()
    assert len(lines) <= 20
    return [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]


def test_the_image_is_the_one_that_the_manifest_names(manifest):
    (tag,) = {pod["spec"]["containers"][0]["image"] for pod in pods(manifest).values()}
    assert f" -t {tag} ." in CONTAINER.read_text()
    assert batchsolve.__version__.startswith(f"{tag.split(':')[1]}.")


def test_the_container_file_builds_from_the_wheel(tmp_path):
    """A new environment of the same Python is the base image; it takes packages from an index."""
    (_, base), (_, copied), *_ = instructions()
    pattern, target = copied.split()
    python = base.removesuffix("-slim").replace(":", "")
    wheels = matching(map(str, (ROOT / "build" / "wheels").glob("*")), str(ROOT / pattern))
    if not wheels:
        pytest.skip(f"needs {pattern}, which scripts/build_wheels.py builds")
    image = tmp_path / "image"
    subprocess.run([python, "-m", "venv", str(image)], check=True)
    for wheel in wheels:
        (image / Path(wheel).name).write_bytes(Path(wheel).read_bytes())
    settings = {"PATH": f"{image}/bin:/usr/bin:/bin"}
    for word, rest in instructions():
        if word == "ENV":
            name, _, value = rest.partition("=")
            settings[name] = value
        if word in ("RUN", "CMD"):
            is_run = word == "RUN"
            line = rest.replace(target, f"{image}/") if is_run else shlex.join(json.loads(rest))
            how = {"env": settings, "cwd": tmp_path, "capture_output": True, "text": True}
            done = subprocess.run(["sh", "-ec", line], **how)
            assert done.returncode == 0, done.stderr
    assert "Usage: batchsolve" in done.stdout
