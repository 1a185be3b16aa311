module {
  transformer.requests(rate = 2.5, prompt = lognormal(2000, 0.8), output = uniform(100, 500)) cached(0.25) acceptance([0.85, 0.7]) draft_cost(0.02) sla(ttft_us = 500000.0, tpot_us = 30000.0)
}

