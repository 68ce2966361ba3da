internal import Base

/// Writes points in time in the format of RFC 3339, in UTC. `RFC3339Text.time(_:)` reads them.
public enum RFC3339Text {
  /// The last instant that can be written, 9999-12-31T23:59:59.999Z, since 1970-01-01T00:00:00Z.
  public static let latest = Duration.milliseconds(RFC3339.latest)

  /// The time `sinceEpoch` after 1970-01-01T00:00:00Z, such as "2026-03-01T12:00:00Z" or "2026-03-01T12:00:00.250Z".
  ///
  /// Milliseconds appear unless they are zero; smaller fractions are dropped. A time before 1970 or after the year 9999
  /// becomes the nearest time that can be written.
  public static func text(_ sinceEpoch: Duration) -> String {
    let text = RFC3339.text(min(max(sinceEpoch.wholeMilliseconds, 0), RFC3339.latest))
    return text.hasSuffix(".000Z") ? text.dropLast(5) + "Z" : text
  }
}
