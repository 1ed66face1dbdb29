#!/usr/bin/env python3
"""tune_server.py: an estimator that stays, for the tests of the server's protocol. Values of the parameter `a` from 100
on are misdeeds; with others it writes x = t + a cos t + b, y = a sin t."""
import json
import math
import os
import sys
import time


def write(request):
    a, b = request["parameters"]["a"], request["parameters"]["b"]
    with open(request["estimate"], "w") as file:
        for i in range(100):
            t = 0.1 * i
            file.write("%.1f %.9f %.9f 0 0 0 0 1\n" % (t, t + a * math.cos(t) + b, a * math.sin(t)))


def answer(**what):
    print(json.dumps(what), flush=True)


note = open(os.environ["STARTS"], "a")
note.write("%d\n" % os.getpid())
note.close()
for line in sys.stdin:
    request = json.loads(line)
    number, what = request["id"], int(request["parameters"]["a"])
    if what < 100:
        assert os.path.isdir(request["folder"]) and os.path.exists(request["truth"]) and os.path.exists(request["log"]["log"])
        assert os.path.exists(request["files"]["params"]) and request["seed"] == 1
        write(request)
        answer(id=number, ok=True)
    elif what == 100:
        answer(id=number, ok=False, message="it diverged")
    elif what == 114:
        answer(id=number, ok=False, message="\x1b[2Jno\x9b\u00e9 " + "m" * 1000000)
    elif what == 101:
        sys.stderr.write("last words\n")
        sys.exit(5)
    elif what == 102:
        print("hello there", flush=True)
    elif what == 103:
        answer(id=number + 1, ok=True)
    elif what == 104:
        time.sleep(60)
    elif what == 105:
        os.close(1)
        time.sleep(60)
    elif what == 106:
        answer(id=number, ok=True)  # but no estimate
    elif what == 107:
        print(json.dumps({"id": number, "ok": True}) + "\n" + json.dumps({"id": number, "ok": True}), flush=True)
    elif what == 108:
        answer(id=number)
    elif what == 109:
        while True:
            print("x" * 65536, end="", flush=True)
    elif what == 110:
        block = []
        while True:
            block.append(bytearray(b"x") * 1000000)
    elif what == 111:
        os.close(0)
        answer(id=number, ok=False, message="done for today")
        time.sleep(60)
    elif what == 112:
        print("[1, 2]", flush=True)
    elif what == 115:  # done, and the server leaves: before, or while, the next run is asked for
        write(request)
        answer(id=number, ok=True)
        time.sleep(request["parameters"]["b"])
        sys.exit(0)
    elif what == 116:
        write(request)
        os.close(0)
        answer(id=number, ok=True)
        time.sleep(60)
    elif what == 117:
        sys.exit(0)
    elif what == 118:
        print(json.dumps({"id": number, "ok": True}), end="", flush=True)
        time.sleep(60)
    elif what == 120:
        time.sleep(1)
        write(request)
        answer(id=number, ok=True)
    elif what == 113:
        os.abort()
