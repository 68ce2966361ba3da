public import FetchVocabulary
public import HTTPMessages

extension HTTPRequest {
  /// The normalised form of the URL `text`, as requests and keys use it, without credentials or fragment.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if `text` is not the URL of a web server.
  public static func normalizedURL(_ text: String) throws(CacheError) -> String {
    let url = URLReference.resolve(text, against: text)
    guard let url, ["http://", "https://"].contains(where: url.hasPrefix) else {
      // Do not repeat the text: it may contain a password.
      throw CacheError(
        .invalidRequest, "that is no URL of a web server", hint: "write it as https://example.com/path")
    }
    return url
  }
}
