import CacheCore
import FetchVocabulary
import HTTPCaching
import Testing

/// Reading an origin's JSON: each kind of value, and the position in what is said about a wrong one.
struct AnswerValueTests {
  private static let body = #"""
    {"text": "a", "whole": 2, "fraction": 1.07, "flag": true, "list": [1, "x"], "rates": {"EUR": 1.07, "CHF": "one"},
     "huge": 1e999}
    """#

  private func read() throws(CacheError) -> AnswerValue {
    let response = HTTPResponse(HTTPResponseHead(status: 200, fields: [:]), body: Array(Self.body.utf8))
    return try AnswerValue(response, origin: "a server")
  }

  @Test func everyKindOfValue() throws {
    let json = try read()
    let fraction = try json.member("fraction").number
    let whole = try json.member("whole").number
    let flag = try json.member("flag").boolean
    let names = try json.member("rates").members.map(\.name)
    #expect(fraction == 1.07 && whole == 2 && flag && names == ["EUR", "CHF"])
  }

  @Test(arguments: [
    ("rates", "'rates.CHF' is not a number"), ("text", "'text' is not an object"), ("list", "'list' is not an object"),
  ])
  func aWrongValueIsNamed(member: String, text: String) {
    let error = #expect(throws: CacheError.self) {
      _ = try read().member(member).members.map { rate throws(CacheError) in try rate.value.number }
    }
    #expect(error?.code == .invalidAnswer && error?.message.contains(text) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    ("huge", "'huge' is too large"), ("text", "'text' is not a number"), ("flag", "'flag' is not a number"),
  ])
  func whatIsNoNumber(member: String, text: String) {
    let error = #expect(throws: CacheError.self) {
      try read().member(member).number
    }
    #expect(error?.message.contains(text) == true)
    #expect(throws: CacheError.self) {
      try read().member("whole").boolean
    }
  }
}
