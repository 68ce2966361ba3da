import CommandLineKit
import Testing

/// The pages of the manual: the text of the declarations, in the language of man(7).
struct ManualTests {
  private let pages = Tool.manualPages(version: "tool 1.2.3") { page in
    page.addHeading("SEE ALSO")
    page.addReference("sh", section: 1)
  }

  @Test func everyCommandHasAPage() {
    #expect(
      pages.map(\.fileName).prefix(6) == [
        "tool.1", "tool-shift.1", "tool-fetch.1", "tool-fetch-cities.1", "tool-fetch-url.1", "tool-ls.1",
      ])
  }

  @Test(arguments: ["tool", "tool-fetch-cities"])
  func aPageIsAsRecorded(name: String) throws {
    let page = try #require(pages.first { $0.name == name })
    try expectGolden(page.text, "manual-\(page.fileName)")
  }

  @Test(arguments: [
    (".so /etc/passwd", #"\&.so /etc/passwd"#), ("'til", #"\(aqtil"#), (#"a\b"#, #"a\eb"#), ("a-b", #"a\-b"#),
    ("~/x^2", #"\(ti/x\(ha2"#), ("“é”", #"\[u201C]\[u00E9]\[u201D]"#), ("see `ls -l`.", #"see \fBls \-l\fR."#),
    ("one ` alone", #"one \(ga alone"#), ("`x`", #"\fBx\fR"#), ("a\tb", "a b"), ("`a`.`b`", #"\fBa\fR.\fBb\fR"#),
  ])
  func aTextIsEscaped(text: String, line: String) {
    var page = ManualPage("x", section: 1, abstract: "X", version: "x 1")
    page.addText(text)
    #expect(page.text.hasSuffix("\n.PP\n\(line)\n"), "\(page.text)")
  }

  @Test(arguments: [
    ("-n, --limit N", #"\fB\-n\fR, \fB\-\-limit\fR \fIN\fR"#), ("[FILE...]", #"[\fIFILE\fR...]"#),
    ("cache.maxEntries", #"\fBcache.maxEntries\fR"#), ("TOOL_HOME", #"\fBTOOL_HOME\fR"#),
    ("-X, --set KEY=VALUE", #"\fB\-X\fR, \fB\-\-set\fR \fIKEY\fB=\fIVALUE\fR"#), (".x", #"\&.\fBx\fR"#),
  ])
  func aTermIsMarked(term: String, line: String) {
    var page = ManualPage("x", section: 1, abstract: "X", version: "x 1")
    page.addItem(term, "")
    #expect(page.text.hasSuffix("\n.TP\n\(line)\n\\&\n"), "\(page.text)")
  }

  @Test func linesThatBeginWithASpaceStay() {
    var page = ManualPage("x", section: 5, abstract: "URLs", version: "x 1")
    page.addText("Examples:\n  .x 'a'\n    b\nThe end")
    #expect(page.text.contains("\nx \\- URLs\n"))
    #expect(page.text.hasSuffix(".PP\nExamples:\n.RS 4\n.EX\n\\&.x \\(aqa\\(aq\n  b\n.EE\n.RE\n.PP\nThe end\n"))
  }
}
