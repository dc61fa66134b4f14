#!/bin/sh
# MIRROR=/clones OUT=/pairs ./run_all.sh: after cloning the repositories that repositories.txt names, at its commits, into
# /clones/OWNER+NAME/repo; writes /pairs/en-{de,fr,ja}/NAME.tsv.
cd "$(dirname "$0")" && export PYTHONDONTWRITEBYTECODE=1 || exit
for name in misc cldr json po resources xlf android mozilla md news prose europarl tanaka; do python3 "extract_$name.py" || exit; done
