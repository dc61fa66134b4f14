#!/usr/bin/env bash
# attentiond beside CTranslate2 on this machine: the same ids in, targets of the same length out, greedy, int8.
#
#   compare_ct2.sh BUILD_DIR MODEL_DIR CT2_MODEL_DIR SOURCES [LENGTH [THREADS]]
#
# CT2_MODEL_DIR is MODEL_DIR converted with
#   ct2-transformers-converter --model MODEL_DIR --output_dir CT2_MODEL_DIR --quantization int8
# SOURCES holds one sentence per line; every target gets LENGTH tokens (default 25). CTranslate2 reads the whole
# file, sorted by length, without HTTP, in every combination of settings that may be its best; attentiond answers
# clients over HTTP that know only their own sentence. Exit code 77: ct2-translator is not on PATH.
set -euo pipefail

if [ $# -lt 4 ]; then
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
if ! command -v ct2-translator >/dev/null; then
    echo "ct2-translator not found"
    exit 77
fi

build=$1 model=$2 ct2_model=$3 sources=$4 length=${5:-25} threads=${6:-$(nproc)}
work=$(mktemp -d)
daemon=
cleanup() {
    if [ -n "$daemon" ]; then kill "$daemon" 2>/dev/null || true; wait "$daemon" || true; fi
    rm -rf "$work"
}
trap cleanup EXIT

grep -v '^[[:space:]]*$' "$sources" >"$work/text"
"$build/tests/bench/pieces" "$model" "$work/text" >"$work/pieces"
n_lines=$(wc -l <"$work/pieces")

# ct2 SENTENCES_PER_BATCH INTER INTRA: target tokens per second, model loading excluded.
ct2() {
    ct2-translator --model "$ct2_model" --compute_type int8 --device cpu --src "$work/pieces" --out "$work/out" \
        --batch_size "$1" --read_batch_size "$((n_lines < 4096 ? n_lines : 4096))" \
        --inter_threads "$2" --intra_threads "$3" --beam_size 1 \
        --min_decoding_length "$length" --max_decoding_length "$length" --log_throughput 2>"$work/err" ||
        { cat "$work/err" >&2; return 1; }
    local n_tokens
    n_tokens=$(awk '{ n += NF } END { print n + 0 }' "$work/out")
    if [ "$n_tokens" -ne $((n_lines * length)) ]; then
        echo "ct2-translator wrote $n_tokens tokens, expected $n_lines x $length" >&2
        return 1
    fi
    tail -n 1 "$work/err"
}

# Elementwise kernels of CTranslate2 are AVX2 unless told otherwise.
isas=("")
! grep -qw avx512f /proc/cpuinfo || isas+=(AVX512)

echo "$(sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo), $threads threads, $n_lines sentences, targets of $length tokens"
echo
echo "CTranslate2    tokens/s  batch  inter  intra  CT2_PACKED_GEMM  CT2_FORCE_CPU_ISA"
for isa in "${isas[@]}"; do
    for packed in 0 1; do
        export CT2_PACKED_GEMM=$packed
        if [ -n "$isa" ]; then export CT2_FORCE_CPU_ISA=$isa; else unset CT2_FORCE_CPU_ISA; fi
        for batch in 1 8 16 32 64 128; do
            for inter in 1 "$threads"; do
                # Latency is one sentence at a time, whatever else could run beside it.
                [ "$batch" -gt 1 ] || [ "$inter" -eq 1 ] || continue
                rate=$(ct2 "$batch" "$inter" $((threads / inter)))
                printf '%23.1f %6d %6d %6d %16d  %s\n' "$rate" "$batch" "$inter" $((threads / inter)) "$packed" "${isa:--}" |
                    tee -a "$work/cells"
                [ "$threads" -gt 1 ] || break  # both are the same
            done
        done
    done
done
awk -v length_="$length" '
    $2 == 1 && $1 > one { one = $1 }
    $2 > 1 && $1 > many { many = $1 }
    END { printf "its best: one by one %.1f tokens/s, %.2f ms a sentence; in batches %.1f tokens/s\n",
          one, 1000 * length_ / one, many }' "$work/cells"

echo
"$build/attentiond" serve --model "$model" --precision int8 --workers 1 --threads-per-worker "$threads" \
    --max-batch-rows 128 --host 127.0.0.1 --port 0 2>"$work/log" &
daemon=$!
for _ in $(seq 600); do
    port=$(sed -n 's/.*listening on 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$work/log")
    [ -z "$port" ] || break
    kill -0 "$daemon" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
    sleep 0.1
done
"$build/tests/bench/load" --port "$port" --pid "$daemon" --input "$work/text" --beam-size 1 --split-sentences off \
    --min-decoding-length "$length" --max-decoding-length "$length" --clients 1,8,32,128
