import Testing

/// The public test suite for HTTP caches, run on the real cache in this process.
struct SuiteTests {
  @Test("a case has one identifier")
  func identifiers() {
    #expect(Set(SuiteCase.all.map(\.id)).count == SuiteCase.all.count)
  }

  @Test("every case passes but the listed ones", arguments: SuiteSetting.allCases)
  func cases(_ setting: SuiteSetting) async throws {
    let known = KnownFailure.all(in: setting)
    var failures: [String: String] = [:]
    for test in setting.cases {
      failures[test.id] = try await SuiteRun(test, setting).failure()?.description
    }
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
