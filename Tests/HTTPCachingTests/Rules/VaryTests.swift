import Testing

@testable import HTTPCaching

/// RFC 9111, section 4.1.
struct VaryTests {
  @Test(
    arguments: [
      ("", [:], ["Accept": "b"], true), ("Accept", ["Accept": "a"], ["Accept": "a"], true),
      ("Accept", ["Accept": "a"], ["Accept": "b"], false), ("Accept", ["Accept": "a"], [:], false),
      ("Accept", [:], ["Accept": "a"], false), ("Accept", [:], [:], true), ("Accept", ["Accept": ""], [:], false),
      ("Accept", [:], ["Accept": ""], false), ("aCCEPT", ["ACCEPT": "a"], ["accept": "a"], true),
      ("Accept", ["Accept": "a", "Other": "1"], ["Accept": "a", "Other": "2"], true),
      ("A, B", ["A": "1", "B": "2"], ["B": "2", "A": "1"], true), ("A, B", ["A": "1", "B": "2"], ["A": "1"], false),
      ("A, B", ["A": "1", "B": "2"], ["A": "1", "B": "3"], false),
      ("A, B", ["A": "1", "B": "2"], ["A": "2", "B": "1"], false),
      ("A, B, C", ["A": "1", "C": "3"], ["A": "1", "C": "3"], true),
      ("A, B, C", ["A": "1", "C": "3"], ["A": "1", "B": "3"], false),
      ("B, A, b", ["A": "1", "B": "2"], ["A": "1", "B": "2"], true),
      // Equal by list syntax.
      ("A", ["A": "1,2"], ["A": " 1 ,  2"], true), ("A", ["A": "1, 2"], ["A": "1", "a": "2"], true),
      ("A", ["A": "1, 2"], ["A": "2, 1"], false), ("A", ["A": "\"1, 2\""], ["A": "\"1,2\""], false),
      ("A", ["A": "a"], ["A": "A"], false), ("A", ["A": "12"], ["A": "1, 2"], false),
      ("A", ["A": "1, 2"], ["A": "1, 2, 2"], false),
      // Equal because the field is case-insensitive.
      ("Accept-Language", ["Accept-Language": "en, de"], ["Accept-Language": "eN,De"], true),
      ("Accept-Encoding", ["Accept-Encoding": "gzip;q=1"], ["Accept-Encoding": "GZIP;Q=1"], true),
      ("Accept-Language", ["Accept-Language": "en, de"], ["Accept-Language": "de, en"], false),
    ] as [(String, HTTP.Fields, HTTP.Fields, Bool)])
  func selects(_ vary: String, _ original: HTTP.Fields, _ request: HTTP.Fields, isSelected: Bool) throws {
    for isShared in [false, true] {
      let rules = HTTPCacheRules.testing(isShared: isShared)
      let stored = try #require(rules.stored(["Vary": vary, "Cache-Control": "max-age=60"], for: original))
      #expect(stored.selector.selects(.testing(request)) == isSelected, "shared: \(isShared)")
    }
  }

  /// A private cache serves a response only for the same credentials. A shared one stores only responses that are
  /// allowed for all users (section 3.5).
  @Test(
    arguments: [
      (["Authorization": "a"], ["Authorization": "a"], true, true),
      (["Authorization": "a"], ["Authorization": "b"], false, true),
      (["Authorization": "a"], [:], false, true), ([:], ["Authorization": "a"], false, false), ([:], [:], true, true),
    ] as [(HTTP.Fields, HTTP.Fields, Bool, Bool)])
  func regardsCredentials(_ original: HTTP.Fields, _ request: HTTP.Fields, privately: Bool, shared: Bool) throws {
    for (isShared, isSelected) in [(false, privately), (true, shared)] {
      for vary in ["", "Accept"] {
        let rules = HTTPCacheRules.testing(isShared: isShared)
        let stored = try #require(rules.stored(["Vary": vary, "Cache-Control": "public"], for: original))
        #expect(stored.selector.selects(.testing(request)) == isSelected, "shared: \(isShared), Vary: \(vary)")
      }
    }
  }

  @Test func aSharedCacheRegardsCredentialsThatVaryNames() throws {
    let rules = HTTPCacheRules.testing(isShared: true)
    let stored = try #require(
      rules.stored(["Vary": "Authorization", "Cache-Control": "public"], for: ["Authorization": "a"]))
    #expect(stored.selector.selects(.testing(["Authorization": "a"])))
    #expect(!stored.selector.selects(.testing(["Authorization": "b"])))
    #expect(!stored.selector.selects(.testing()))
  }

  /// A client's certificate counts as credentials.
  @Test(arguments: [false, true])
  func regardsTheCertificateOfTheClient(isShared: Bool) throws {
    let requests = ["a", "b", nil].map { HTTP.Request(url: "https://example.com/", clientIdentity: $0) }
    let response = HTTP.ResponseHead(status: 200, fields: ["Cache-Control": "max-age=60"])
    let rules = HTTPCacheRules.testing(isShared: isShared)
    for (index, request) in requests.enumerated() {
      let stored = rules.stored(
        response, for: request, requestTime: received, responseTime: received)
      guard !isShared || request.clientIdentity == nil else {
        #expect(stored == nil)
        continue
      }
      let selector = try #require(stored).selector
      let selected = requests.indices.filter { selector.selects(requests[$0]) }
      #expect(selected == [index])
      #expect(!selector.digest.contains("certificate"))
    }
  }

  @Test func selectorsOfEveryRequestHaveNothingToKeep() throws {
    for isShared in [false, true] {
      let rules = HTTPCacheRules.testing(isShared: isShared)
      #expect(try #require(rules.stored(["Cache-Control": "public"], for: ["A": "1"])).selector == .always)
    }
  }

  @Test func everyVariantIsSelectedByItsOwnRequest() throws {
    let rules = HTTPCacheRules.testing()
    let requests: [HTTP.Fields] = [
      [:], ["A": ""], ["A": "1"], ["A": "2"], ["B": "1"], ["A": "1", "B": "1"], ["A": "1,1"],
    ]
    for (index, original) in requests.enumerated() {
      let selector = try #require(rules.stored(["Vary": "A, B"], for: original)).selector
      #expect(requests.indices.filter { selector.selects(.testing(requests[$0])) } == [index])
    }
  }

  @Test func noValueOfARequestIsInTheSelector() throws {
    let stored = try #require(
      HTTPCacheRules.testing().stored(["Vary": "X-Key"], for: ["X-Key": "topsecret", "Authorization": "hush"]))
    let text = stored.selector.names.joined() + stored.selector.digest
    #expect(!text.contains("topsecret") && !text.contains("hush") && stored.selector.digest.count == 64)
  }

  /// A selector restored from its stored parts is equal to the original.
  @Test(arguments: [[:], ["Authorization": "a"], ["A": "1"]] as [HTTP.Fields], [false, true])
  func itsPartsAreAllThereIs(_ original: HTTP.Fields, isShared: Bool) throws {
    for vary in ["", "A"] {
      let rules = HTTPCacheRules.testing(isShared: isShared)
      let selector = try #require(rules.stored(["Vary": vary, "Cache-Control": "public"], for: original)).selector
      let copy = VariantSelector(names: selector.names, digest: selector.digest)
      #expect(copy == selector && copy.selects(.testing(original)))
      // The parts can be joined with spaces and split again.
      #expect(selector == .always || !selector.digest.isEmpty)
      #expect(selector.names.allSatisfy { !$0.isEmpty && !$0.contains(" ") })
    }
  }
}
