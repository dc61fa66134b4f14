#!/bin/bash
# Teachers, what they make of the sources, and the student that learns it, in commands of limited time: call it again with
# the same arguments until it ends with 0. 75: there is more to do.
#
#     train_in_slices.sh PREPARED_DIR OUT_DIR MINUTES_OF_THIS_COMMAND
#
# TEACHERS (2), TEACHER_MINUTES (7) each, DISTIL_MINUTES (3; whole), STUDENT_MINUTES (7); TEACHERS=0 trains the student on the pairs alone.
# TEACHER_FLAGS and STUDENT_FLAGS go to train.py, DISTIL_FLAGS to distil.py. OUT_DIR/student is the result, as a MarianMT directory.
set -u -o pipefail
prepared=$1 out=$2 end=$(($(date +%s) + 60 * $3))
recipe=$(dirname "$0")
python=${PYTHON:-python3}
teachers=${TEACHERS:-2}
mkdir -p "$out"

# Minutes that this command has left; the last half minute is for the checkpoint and the figures.
left() {
    local seconds=$((end - $(date +%s) - 30))
    [ "$seconds" -gt 20 ] || exit 75
    printf '%d.%02d\n' $((seconds / 60)) $((seconds % 60 * 100 / 60))
}

train() {
    local name=$1 minutes=$2
    shift 2
    [ -e "$out/$name.done" ] && return
    local slice
    slice=$(left) || exit 75
    "$python" "$recipe/train.py" "$prepared" "$out/$name" --minutes "$minutes" --slice "$slice" "$@" 2>&1 | tee -a "$out/$name.log"
    local status=${PIPESTATUS[0]}
    [ "$status" = 0 ] || exit "$status"
    touch "$out/$name.done"
}

names=()
for ((i = 1; i <= teachers; i++)); do
    # shellcheck disable=SC2086 # flags are words
    train "teacher-$i" "${TEACHER_MINUTES:-7}" --seed "$i" --encoder-layers 6 --decoder-layers 6 --dropout 0.3 ${TEACHER_FLAGS:-}
    names+=("$out/teacher-$i.pt")
done
pairs=train=1
if [ "$teachers" -gt 0 ]; then
    if [ ! -e "$out/distil.done" ]; then
        minutes=$(left) || exit 75
        # Not begun where there is too little time: what it does not reach is left out.
        if ((end - $(date +%s) < 60 * ${DISTIL_MINUTES:-3} + 30)); then exit 75; fi
        # shellcheck disable=SC2086
        "$python" "$recipe/distil.py" "$prepared" --teachers "${names[@]}" --minutes "$minutes" ${DISTIL_FLAGS:-} 2>&1 | tee "$out/distil.log" || exit 1
        touch "$out/distil.done"
    fi
    pairs=distilled=1,train=0.3
fi
# shellcheck disable=SC2086
train student "${STUDENT_MINUTES:-7}" --seed 9 --dropout 0.1 --pairs "$pairs" ${STUDENT_FLAGS:-}
