# Every recipe is a few plain commands; CONTRIBUTING.md lists those a fresh
# clone needs, for machines without `just`.

set shell := ["bash", "-euo", "pipefail", "-c"]

# The list of recipes.
default:
    @just --list

# bin/stepbox, and each skill of skills/ as one file of wasm/.
build:
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -o bin/stepbox ./cmd/stepbox
    for dir in skills/*/; do {{quote(just_executable())}} skill "$(basename "$dir")"; done

# One skill of skills/ as wasm/NAME.wasm.
skill name:
    rm -rf "wasm/{{name}}"
    bin/stepbox skills pack "skills/{{name}}" -o "wasm/{{name}}.wasm"

# The engines that skills run, fetched and packed as wasm/NAME.wasm.
engines:
    go run ./cmd/mkengines

# The tests, exactly as the README runs them.
test:
    go test ./...

# What must hold before a change goes in.
ci:
    .ci/run

# The tests under the race detector (needs a C compiler).
race:
    CGO_ENABLED=1 go test -race ./...

# The repository's benchmarks, in one run; the last column compares sub-benchmarks with the first of their name.
bench pattern=".":
    go test -run '^$' -bench '{{pattern}}' -benchmem ./... | awk ' \
        $1 !~ /^Benchmark/ { next } \
        { group = $1; sub(/\/[^\/]*$/, "", group) } \
        $4 == "ns/op" && $1 ~ /\// { if (!(group in first)) first[group] = $3; printf "%s\t× %.2f\n", $0, $3 / first[group]; next } \
        { print }'

# Each fuzz target for a while: `just fuzz 10m` at night.
fuzz time="30s":
    go list ./... | while read -r pkg; do \
        go test -list '^Fuzz' "$pkg" | { grep '^Fuzz' || true; } | while read -r target; do \
            echo "== $pkg $target"; go test -run '^$' -fuzz "^$target\$" -fuzztime '{{time}}' "$pkg"; \
        done; \
    done

# How well the skill files understands requests, with what it gets wrong.
eval:
    go run ./cmd/stepbox eval ./skills/files --corpus skills/files/data/eval.jsonl --wrong

# The contracts and corpora of a peer, under SHARED: `just eval-reference ../shared`.
eval-reference shared:
    for pair in io/train documents/eval documents/train documents/safety_test ffmpeg/eval ffmpeg/train ffmpeg/safety_test; do \
        name="${pair%/*}"; echo "== $pair"; \
        go run ./cmd/stepbox eval {{quote(shared)}}/reference-skills/"$name" --override "fixtures/planner/$name" --corpus {{quote(shared)}}/corpora/"$pair".jsonl; \
    done

# The requests of the ffmpeg corpus under SHARED, run to their files: takes minutes.
eval-ffmpeg shared:
    go run ./cmd/stepbox eval ./skills/ffmpeg --corpus {{quote(shared)}}/corpora/ffmpeg/eval.jsonl --execute

# The clips that corpora of the skill ffmpeg are about, in the folder DIR.
fixtures dir:
    mkdir -p {{quote(dir)}}
    go run ./cmd/stepbox run ./skills/ffmpeg/testdata/fixtures "make the fixtures" --sandbox {{quote(dir)}}

# Rewrite the goldens of tests that have them; look at the diff afterwards.
update:
    go test ./cmd/... -update

# The release of this commit in dist/: archives for each system, with an SBOM each, and SHA256SUMS.
dist:
    .ci/dist

# Format.
fmt:
    gofmt -w $(git ls-files '*.go')

# Remove what build makes.
clean:
    rm -rf bin dist
    find wasm -mindepth 1 ! -name README.md -delete
