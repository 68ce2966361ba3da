/// When a server is to be asked again, as its field `Retry-After` has it (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// How long to wait after the answer with `head`; `nil` where it does not say. A date is compared with that of the
  /// answer, because the server's clock may not be ours, and with `now` where the answer has none.
  static func delay(_ head: HTTPResponseHead, now: Duration? = nil) -> Duration? {
    guard let value = head.fields["retry-after"] else { return nil }
    if let delay = DeltaSeconds.duration(value) { return delay }
    let date = head.fields["date"].flatMap { HTTPDate.time($0, now: now ?? .zero) }
    guard let sent = date ?? now, let time = HTTPDate.time(value, now: sent) else { return nil }
    return max(time - sent, .zero)
  }
}
