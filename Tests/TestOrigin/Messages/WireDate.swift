import CacheBase

/// Dates as header fields have them: the IMF-fixdate of RFC 9110, section 5.6.7.
public enum WireDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// The date that is `offset` seconds from now.
  public static func text(secondsFromNow offset: Int = 0) -> String {
    var time = time_t(offset) + time_t(CacheBase.time(nil))
    var parts = tm()
    gmtime_r(&time, &parts)
    let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(padded).joined(separator: ":")
    let month = months[Int(parts.tm_mon)]
    return "\(days[Int(parts.tm_wday)]), \(padded(parts.tm_mday)) \(month) \(1900 + parts.tm_year) \(clock) GMT"
  }

  private static func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
