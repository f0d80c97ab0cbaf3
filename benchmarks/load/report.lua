-- What every script of this folder ends with: one line that the benchmark reads.
function done(summary, latency, requests)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  print(string.format(
    'figures {"requests":%d,"seconds":%.6f,"bytes":%d,"failed":%d,"p50":%.4f,"p99":%.4f,"max":%.4f}',
    summary.requests, summary.duration / 1e6, summary.bytes, failed,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
