/// When to ask a server again, according to its `Retry-After` field (RFC 9110, section 10.2.3).
package enum RetryAfter {
  /// How long to wait after the answer with `head`; `nil` if it does not say. A date is compared with the answer's own
  /// date, because the server's clock may differ from ours; without one, with `now`.
  package static func delay(_ head: HTTPResponseHead, now: Duration? = nil) -> Duration? {
    guard let value = head.fields["retry-after"] else { return nil }
    if let delay = DeltaSeconds.duration(value) { return delay }
    let date = head.fields["date"].flatMap { HTTPDate.time($0, now: now ?? .zero) }
    guard let sent = date ?? now, let time = HTTPDate.time(value, now: sent) else { return nil }
    return max(time - sent, .zero)
  }
}
