/// Recognises the HTML pages that servers and proxies send instead of answers.
enum HTMLPage {
  /// Whether `response` is labelled as HTML, or looks like it.
  static func isIn(_ response: HTTPResponse) -> Bool {
    let type = response.mediaType
    return type == "text/html" || type == "application/xhtml+xml" || beginsLikeOne(response.body)
  }

  private static func beginsLikeOne(_ body: [UInt8]) -> Bool {
    let start = body.prefix(256).drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }.prefix(16)
    let text = String(decoding: start, as: UTF8.self).lowercased()
    return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
  }
}
