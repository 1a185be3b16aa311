// RUN: autopar-opt %s --autopar-bind-requests | FileCheck %s --check-prefix=KEEP
// RUN: autopar-opt %s --autopar-bind-requests="rate=2.5" | FileCheck %s --check-prefix=RATE
// RUN: autopar-opt %s --autopar-bind-requests="concurrency=8 cached=0.25" | FileCheck %s --check-prefix=CLOSED
// RUN: autopar-opt %s --autopar-bind-requests="prompt=uniform:1..9 output=7 sla=tpot:30ms" \
// RUN:   | FileCheck %s --check-prefix=LENGTHS
// RUN: autopar-opt %s --autopar-bind-requests="acceptance=0.8,0.7 draft-cost=0.01" \
// RUN:   | FileCheck %s --check-prefix=DRAFTS
// RUN: not autopar-opt %s --autopar-bind-requests="cached=0.25,0.5" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TWO
// RUN: not autopar-opt %s --autopar-bind-requests="cached=1" 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not autopar-opt %s --autopar-bind-requests="rate=1 concurrency=8" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BOTH
// RUN: not autopar-opt %s --autopar-bind-requests="prompt=many" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: echo 'module {}' | autopar-opt --autopar-bind-requests="rate=2 prompt=9 output=7" \
// RUN:   | FileCheck %s --check-prefix=NEW
// RUN: echo 'module {}' | not autopar-opt --autopar-bind-requests="prompt=9 output=7" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=COUNT
// RUN: echo 'module {}' | not autopar-opt --autopar-bind-requests="rate=2 output=7" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PROMPT

// What is not given stays as it was; a rate takes the place of a concurrency.
// KEEP: transformer.requests(concurrency = 64, prompt = 2000, output = 300) sla(ttft_us = 500000.0)
// RATE: transformer.requests(rate = 2.5, prompt = 2000, output = 300) sla(ttft_us = 500000.0)
// CLOSED: transformer.requests(concurrency = 8, prompt = 2000, output = 300) cached(0.25) sla(ttft_us = 500000.0)
// LENGTHS: transformer.requests(concurrency = 64, prompt = uniform(1, 9), output = 7) sla(tpot_us = 30000.0)
// DRAFTS: transformer.requests(concurrency = 64, prompt = 2000, output = 300) acceptance([0.8, 0.7]) draft_cost(0.01) sla(ttft_us = 500000.0)
// TWO: error: cached has 2 numbers
// TWO: note: give one
// ALL: error: 'transformer.requests' op has cached = 1: expected a number from 0 to below 1
// BOTH: error: 'transformer.requests' op has both a rate and a concurrency
// MANY: error: prompt = many: expected tokens
// NEW: transformer.requests(rate = 2.0, prompt = 9, output = 7)
// COUNT: error: --output-tokens needs a service: add --rate or --concurrency
// COUNT: note: as in --rate=20 --prompt=2000 --output-tokens=300
// PROMPT: error: --rate needs --prompt
transformer.requests(concurrency = 64, prompt = 2000, output = 300) sla(ttft_us = 500000.0)
