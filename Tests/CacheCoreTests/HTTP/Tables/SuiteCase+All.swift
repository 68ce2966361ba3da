extension SuiteCase {
  /// The cases of all chapters.
  static let all: [SuiteCase] = [
    cacheControlFreshness, cacheControlParsing, ageParsing, expiresFreshness, expiresParsing, responseDirectives, stale,
    heuristics, methods, statuses, requestDirectives, pragma, vary, varyParsing, dateConditions, tagConditions,
    storedFields, updates, heads, invalidation, partialContent, credentials, others, targetedControl, interimResponses,
  ].flatMap(\.self)
}
