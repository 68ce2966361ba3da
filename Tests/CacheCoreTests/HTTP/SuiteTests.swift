import Testing

/// The public test suite for HTTP caches, run on the real cache in this process.
struct SuiteTests {
  @Test("a case has one identifier") func identifiers() {
    #expect(Set(SuiteCase.all.map(\.id)).count == SuiteCase.all.count)
  }

  @Test("every case passes but the listed ones", arguments: SuiteSetting.allCases)
  func cases(_ setting: SuiteSetting) async throws {
    let known = KnownFailure.all(in: setting)
    var failures: [String: String] = [:]
    for test in setting.cases { failures[test.id] = try await SuiteRun(test, setting).failure()?.description }
    print(Self.summary(setting, failures))
    for (id, failure) in failures.sorted(by: { $0.key < $1.key }) where known[id] == nil {
      Issue.record("\(id): \(failure)")
    }
    for id in known.keys.sorted() where failures[id] == nil {
      Issue.record("\(id) is listed as failing (\(known[id] ?? "")), and passes")
    }
    #expect(setting.cases.count == setting.expectedCount)
    #expect(setting.cases.count - failures.count > setting.bestPublished)
  }

  private static func summary(_ setting: SuiteSetting, _ failures: [String: String]) -> String {
    let kinds = SuiteCase.Kind.allCases.map { kind in
      let cases = setting.cases.filter { $0.kind == kind }
      return "\(kind) \(cases.count { failures[$0.id] == nil }) of \(cases.count)"
    }
    let passes = setting.cases.count - failures.count
    return "\(setting): \(passes) of \(setting.cases.count) (\(kinds.joined(separator: ", ")))"
  }
}

extension SuiteCase {
  /// The cases of all chapters.
  static let all: [SuiteCase] = [
    cacheControlFreshness, cacheControlParsing, ageParsing, expiresFreshness, expiresParsing, responseDirectives, stale,
    heuristics, methods, statuses, requestDirectives, pragma, vary, varyParsing, dateConditions, tagConditions,
    storedFields, updates, heads, invalidation, partialContent, credentials, others, targetedControl, interimResponses,
  ].flatMap(\.self)
}

/// A case that this cache fails, and why that is right or cannot be avoided.
///
/// The list is exact: the test fails if a case in it passes, or one outside it fails.
struct KnownFailure: Sendable {
  let id: String
  let reason: String

  /// The reasons for all known failures in `setting`, by identifier.
  static func all(in setting: SuiteSetting) -> [String: String] {
    let listed =
      everywhere + (setting.isShared ? shared : personal) + (setting.carrier == .network ? overTheNetwork : [])
    return Dictionary(listed.map { ($0.id, $0.reason) }, uniquingKeysWith: { first, _ in first })
  }

  /// Known failures with the same reason.
  private static func cases(_ reason: String, _ ids: String...) -> [KnownFailure] {
    ids.map { KnownFailure(id: $0, reason: reason) }
  }

  private static let everywhere: [KnownFailure] = [
    cases(
      "RFC 9111, section 4.2.1, recommends that a response with a malformed max-age count as stale",
      "freshness-max-age-a100", "freshness-max-age-100a", "freshness-max-age-decimal-zero",
      "freshness-max-age-decimal-five"),
    cases(
      "of two max-age the first counts (RFC 9111, section 4.2.1); the suite asks if the longer does",
      "freshness-max-age-two-stale-fresh-sameline", "freshness-max-age-two-stale-fresh-sepline"),
    cases(
      "an Age with a parameter is malformed, and ignored (RFC 9111, section 5.1)",
      "age-parse-parameter", "age-parse-numeric-parameter"),
    cases(
      "no-store in a request forbids to store, not to answer from the store (RFC 9111, section 5.2.1.5)",
      "ccreq-no-store"),
    cases(
      "a cookie is a credential: its response is for one party, and a response without one is for others",
      "other-cookie"),
    cases(
      "a tenth of the time since the last change has passed after three seconds",
      "heuristic-delta-5", "heuristic-delta-10", "heuristic-delta-30"),
    cases(
      "a 304 with another strong tag must not update what is stored (RFC 9111, section 4.3.4)",
      "304-etag-update-response-ETag"),
    cases(
      "the field describes the stored bytes, which a 304 does not replace (RFC 9111, section 3.2, permits to keep it)",
      "304-etag-update-response-Content-Encoding", "304-etag-update-response-Content-Range"),
    cases(
      "the suite says bytes 4-9 of five bytes: a part whose length does not fit is not stored",
      "partial-store-partial-reuse-partial", "partial-store-partial-reuse-partial-byterange",
      "partial-store-partial-reuse-partial-absent", "partial-store-partial-reuse-partial-suffix"),
    cases(
      "parts are combined only by a strong validator (RFC 9111, section 3.4), and the suite sends none",
      "partial-store-partial-complete"),
    cases("Warning is obsolete (RFC 9111, section 5.5)", "stale-warning-stored", "stale-warning-become"),
    cases(
      "a tag is sent on as it was written: quotation marks are part of it (RFC 9110, section 8.8.3)",
      "conditional-etag-strong-generate-unquoted", "conditional-etag-forward-unquoted"),
    cases(
      "only the variant that the request selects is confirmed; RFC 9111, section 4.3.1, permits to offer others",
      "conditional-etag-vary-headers-mismatch"),
    cases(
      "the response to HEAD is the origin's own, without fields that it left out (RFC 9110, section 9.3.2)",
      "head-200-retain"),
    cases("a 410 does not describe the 200 that is stored (RFC 9111, section 4.3.5)", "head-410-update"),
    cases(
      "a response that comes straight from the origin is passed on as it is (RFC 9111, section 4, demands an Age of a "
        + "stored one)", "other-age-delay"),
    cases(
      "values are compared as written but for white space and lines: more needs to know the field (RFC 9111, section "
        + "4.1, permits it)", "vary-normalise-lang-order", "vary-normalise-lang-select"),
  ].flatMap(\.self)

  private static let personal: [KnownFailure] = [
    cases(
      "no stale response was served: the fetch failed, which the suite counts as a failure (no browser passes)",
      "stale-close-must-revalidate", "stale-close-no-cache"),
    cases(
      "Pragma: no-cache of a request counts where there is no Cache-Control (RFC 7234, section 5.4)",
      "pragma-request-no-cache"),
  ].flatMap(\.self)

  private static let shared: [KnownFailure] = [
    cases(
      "keys of structured fields are in lower case: anything else spoils the field (RFC 8941, section 3.1.2)",
      "cdn-max-age-case-insensitive"),
    cases(
      "a tag with quotation marks is not the same as one without (RFC 9110, section 8.8.3.2)",
      "conditional-etag-quoted-respond-unquoted", "conditional-etag-unquoted-respond-quoted"),
    cases(
      "without Last-Modified the Date counts, which is later than the date asked about (RFC 9111, section 4.3.2): 200",
      "conditional-lm-fresh-no-lm"),
  ].flatMap(\.self)

  private static let overTheNetwork = cases(
    "a coding of the transfer that was not asked for, and cannot be undone, is an error",
    "headers-store-Transfer-Encoding")
}
