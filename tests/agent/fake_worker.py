"""Stands in for `ptxbench worker` in tests of the pool: answers each line as its "source" says.

ok           a verdict
crash        ends with status 3 and says why
crash-once   does so unless the file named by "path" exists, which it makes first
hang         never answers
noise        prints what no worker prints
refuse       an error object
"""
import json
import os
import sys
import time

for line in sys.stdin:
    request = json.loads(line)
    what = request["source"]
    if what == "crash" or (what == "crash-once" and not os.path.exists(request["path"])):
        if what == "crash-once":
            open(request["path"], "w").close()
        sys.stderr.write("the last words\n")
        sys.exit(3)
    if what == "hang":
        time.sleep(1000)
    if what == "noise":
        print("this is no verdict", flush=True)
        continue
    if what == "refuse":
        print(json.dumps({"error": {"code": "bad input", "message": "no such task", "hint": "look"}}), flush=True)
        continue
    verdict = json.load(open(os.environ["VERDICT"]))
    verdict["summary"] = "%s by %s on %s" % (request["id"], os.getpid(), sys.argv[-1])
    print(json.dumps(verdict), flush=True)
