import Testing

/// The manual that an installation has.
@Suite struct ManualTests {
  @Test func everyCommandHasAPageWithoutMistakes() async throws {
    let scratch = try Scratch()
    let names = try await scratch.cachectl("__manual").lines
    #expect(Set(names).isSuperset(of: ["cachectl.1", "cachectl-fetch-cities.1", "cachectl-ls.1", "cachectl.json.5"]))
    var paths: [String] = []
    for name in names {
      let page = try await scratch.cachectl("__manual", name)
      expectSuccess(page)
      #expect(page.text.hasPrefix(".TH ") && page.text.utf8.allSatisfy { $0 < 0x80 }, "\(name)")
      try scratch.write(page.output, to: name)
      paths.append(scratch.path(name))
    }
    for columns in [40, 80] {
      let width = "-rLL=\(columns)n"
      let check = try await scratch.run("/usr/bin/env", ["groff", "-Tutf8", "-man", "-ww", "-z", width] + paths)
      #expect(check.status == 0 && check.errors.isEmpty, "\(columns): \(check.errors)")
    }
  }

  @Test func theFileSaysEachKey() async throws {
    let scratch = try Scratch()
    let page = try await scratch.cachectl("__manual", "cachectl.json.5").text
    #expect(page.contains(#"\fBcache.maxEntries\fR"#))
    #expect(page.contains(#"Variable: \fBCACHECTL_BACKEND\fR."#))
    #expect(page.contains(#"Default: \fB\(dq1GiB\(dq\fR."#))
  }

  @Test func thereIsNoOtherPage() async throws {
    expectFailure(try await Scratch().cachectl("__manual", "cachectl.7"), status: 64, mentioning: ["cachectl.7"])
  }
}
