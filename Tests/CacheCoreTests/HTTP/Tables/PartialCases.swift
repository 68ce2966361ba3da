extension SuiteCase {
  /// Ranges, and partial content.
  static let partialContent: [SuiteCase] = [
    SuiteCase(
      "partial-store-partial-reuse-partial", .optimal, "the same part once more",
      [lastFive(originSees: ["Range": "bytes=-5"]), part("bytes=-5", "01234")]),
    SuiteCase(
      "partial-store-complete-reuse-partial", .optimal, "a part of the whole, by both ends",
      [whole("01234567890"), part("bytes=0-1", "01")]),
    SuiteCase(
      "partial-store-complete-reuse-partial-no-last", .optimal, "a part of the whole, by its first byte",
      [whole("01234567890"), part("bytes=1-", "1234567890")]),
    SuiteCase(
      "partial-store-complete-reuse-partial-suffix", .optimal, "a part of the whole, by its length",
      [whole("0123456789A"), part("bytes=-1", "A")]),
    SuiteCase(
      "partial-store-partial-reuse-partial-byterange", .optimal, "a part of a part, by both ends",
      [lastFive(), part("bytes=6-8", "234")]),
    SuiteCase(
      "partial-store-partial-reuse-partial-absent", .optimal, "a part of a part, by its first byte",
      [lastFive(), part("bytes=6-", "234")]),
    SuiteCase(
      "partial-store-partial-reuse-partial-suffix", .optimal, "a part of a part, by its length",
      [lastFive(), part("bytes=-1", "4")]),
    SuiteCase(
      "partial-store-partial-complete", .optimal, "what is missing of the whole is asked for",
      [
        SuiteExchange(
          ask: ["Range": "bytes=-5"], status: 206,
          answer: ["Cache-Control": "max-age=3600", "Content-Range": "bytes 0-4/10"], body: "01234"),
        SuiteExchange(originSees: ["Range": "bytes=5-"]),
      ]),
    SuiteCase(
      "partial-use-headers", .required, "a part of the whole (the field that the suite changes is never sent)",
      [
        whole("01234567890", ["A": "1"]),
        SuiteExchange(
          ask: ["Range": "bytes=0-1"], answer: ["A": "2"], expect: .cached, expectStatus: 206, text: "01"),
      ]),
    SuiteCase(
      "partial-use-stored-headers", .required, "a part of the whole has its fields",
      [
        whole("01234567890", ["A": "1"]),
        SuiteExchange(
          ask: ["Range": "bytes=0-1"], expect: .cached, expectStatus: 206, text: "01", shows: ["A": "1"]),
      ]),
  ]

  /// Five bytes, which the suite declares as six.
  private static func lastFive(originSees: SuiteFields = [:]) -> SuiteExchange {
    SuiteExchange(
      ask: ["Range": "bytes=-5"], status: 206,
      answer: ["Cache-Control": "max-age=3600", "Content-Range": "bytes 4-9/10"], body: "01234",
      originSees: originSees)
  }

  private static func whole(_ body: String, _ fields: SuiteFields = [:]) -> SuiteExchange {
    SuiteExchange(answer: ["Cache-Control": "max-age=3600"] + fields, body: body)
  }

  private static func part(_ range: String, _ text: String) -> SuiteExchange {
    SuiteExchange(ask: ["Range": .text(range)], expect: .cached, expectStatus: 206, text: .exactly(text))
  }
}
