"""Headless Chromium through chromedriver's own protocol, with nothing but Python's library."""
import base64
import json
import socket
import subprocess
import time
import urllib.request

ENTER, TAB = "\ue007", "\ue004"


class Page:
    """One window. Everything is waited for, up to a limit that leaves room for a busy machine."""

    def __init__(self, url, size=(1280, 800), dark=False, phone=False):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}", "--silent"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                self.call("GET", "/status")
                break
            except OSError:
                time.sleep(0.1)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={size[0]},{size[1]}"]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        options = {"args": arguments}
        if phone:
            options["mobileEmulation"] = {"deviceMetrics": {"width": size[0], "height": size[1], "pixelRatio": 2, "touch": True}}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.base += "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        self.call("POST", "/url", {"url": url})
        self.ready()

    def call(self, method, path, data=None):
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(self.base + path, method=method, data=body, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def js(self, code):
        return self.call("POST", "/execute/sync", {"script": code, "args": []})

    def wait(self, condition, limit=60):
        end = time.time() + limit
        while time.time() < end:
            if self.js(f"return !!({condition})"):
                return
            time.sleep(0.05)
        raise AssertionError(f"{condition} did not come:\n{self.js('return document.body.innerText')}")

    def reload(self):
        self.call("POST", "/refresh", {})
        self.ready()

    def ready(self):
        self.wait("document.getElementById('state').textContent === 'ready' && !document.getElementById('input').disabled")

    def text(self, name):
        return self.js(f"const e = document.getElementById('{name}'); return e.value === undefined ? e.innerText : e.value")

    def keys(self, text, held=""):
        actions = [{"type": "keyDown", "value": key} for key in held]
        for key in text:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        actions += [{"type": "keyUp", "value": key} for key in held]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def choose(self, name, path):
        """Gives a file to an input of files."""
        element = self.call("POST", "/element", {"using": "css selector", "value": f"#{name}"})
        self.call("POST", f"/element/{next(iter(element.values()))}/value", {"text": path})

    def enter(self, text, shows):
        """Types a line and Enter, and waits until the log's end has what it is to show."""
        self.keys(text + ENTER)
        self.wait(f"document.getElementById('log').innerText.slice(-2000).includes({json.dumps(shows)})")
        self.ready()

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def console(self):
        return [line for line in self.call("POST", "/se/log", {"type": "browser"}) if line["level"] in ("SEVERE", "WARNING")]

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
