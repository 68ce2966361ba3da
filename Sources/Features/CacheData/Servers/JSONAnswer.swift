internal import Base
public import CacheDomain

/// Reads the JSON of answers, and reports where it is not as expected. Error messages do not quote it.
public enum JSONAnswer {
  /// Decodes the body of `response` with `read`.
  ///
  /// - Throws: `CacheError` with the code `invalidAnswer`.
  public static func read<Value>(
    _ response: HTTPResponse, origin: String, _ read: (AnswerValue) throws(AnswerValue.Mistake) -> Value
  ) throws(CacheError) -> Value {
    if response.body.isEmpty { throw .invalidAnswer(origin, "an empty answer") }
    if HTMLPage.isIn(response) { throw .invalidAnswer(origin, "a page of HTML instead of JSON") }
    guard let document = try? JSONDocument(parsing: response.body, allowsRepeatedKeys: true) else {
      throw misunderstood("it is not valid JSON", origin)
    }
    do throws(AnswerValue.Mistake) { return try read(AnswerValue(document)) } catch {
      throw misunderstood(error.text, origin)
    }
  }

  private static func misunderstood(_ reason: String, _ origin: String) -> CacheError {
    .invalidAnswer(
      origin, "an answer that is not understood: \(reason)",
      hint: "check the base URL of this origin; if it is right, its server is at fault")
  }
}
