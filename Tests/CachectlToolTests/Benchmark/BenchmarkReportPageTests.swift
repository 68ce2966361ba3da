import CachePresentation
import Foundation
import Testing

@testable import CachectlTool
@testable import EngineBenchmark

@Suite struct BenchmarkReportPageTests {
  private let page = BenchmarkReportPage(BenchmarkSample.outcome).html

  @Test func itIsWellFormedAndNeedsNothingElse() throws {
    // Without the document type and the elements that HTML leaves open, it is XML as well.
    var text = page.replacingOccurrences(of: "<!DOCTYPE html>", with: "")
    text = text.replacing(#/<(meta|link) [^>]*>/#, with: "")
    #expect(try tags(text).isEmpty)
    #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"))
  }

  @Test func everyFigureHasItsMarks() {
    let bars = page.components(separatedBy: "class=\"bar series").count - 1
    #expect(bars == BenchmarkSample.outcome.report.results.count)
    // Five percentiles for each result, three sizes for each of two backends, and a sample in each legend.
    let marks = page.components(separatedBy: "class=\"mark series").count - 1
    #expect(marks == 9 * 5 + 2 * 3 + 9 + 2)
  }

  @Test func costAgainstSizeIsDrawnWhereThereAreSeveralSizes() {
    #expect(page.contains("read: time of an operation by the number of entries"))
    #expect(!page.contains("ycsb-b run: time of an operation by the number of entries"))
  }

  /// A bar has the colour of the lines of its backend, and no colour of a series is one of a verdict.
  @Test func aColourMeansOneThing() throws {
    for (number, backend) in ["memory", "lmdb", "sqlite"].enumerated() {
      let bars = page.components(separatedBy: "<span class=\"name\">\(backend)</span>").dropFirst()
      #expect(
        bars.allSatisfy { $0.hasPrefix("<span class=\"track\"><span class=\"bar series\(number)\"") }, "\(backend)")
      #expect(page.contains("class=\"mark series\(number)\""))
    }
    for scheme in BenchmarkReportStyle.css.components(separatedBy: "color-scheme").prefix(3) {
      let colours = scheme.matches(of: #/--(s[0-5]|better|wrong): (#[0-9a-f]{6})/#).map { String($0.2) }
      #expect(Set(colours).count == colours.count && colours.count % 8 == 0, "\(colours)")
    }
  }

  @Test func theTimeOfABatchIsNotThatOfAnOperation() {
    let rows = [
      BenchmarkSample.row("lmdb", "fill", rate: 100_000, batch: 1_000), BenchmarkSample.row("lmdb", "read", rate: 1),
    ]
    let page = BenchmarkReportPage(BenchmarkSample.outcome(rows)).html
    #expect(page.contains("fill run, 1,000 entries: time of a batch of 1,000 operations"))
    #expect(page.contains("read run, 1,000 entries: time of an operation"))
    #expect(page.contains("<th>Batch</th>") && page.contains("times are of one call"))
  }

  @Test func textsAreEscaped() {
    let row = BenchmarkSample.row("a<b>&\"c", "read", rate: 1)
    let page = BenchmarkReportPage(BenchmarkSample.outcome([row])).html
    #expect(page.contains("a&lt;b&gt;&amp;&quot;c") && !page.contains("a<b>"))
  }

  @Test(arguments: [
    ([1.0, 10], [1.0, 10]), ([0.5, 300], [0.1, 1, 10, 100, 1000]), ([], [1, 10]), ([5, 5], [1, 10]),
  ])
  func scalesHaveWholeDecades(values: [Double], ticks: [Double]) {
    let scale = LogScale(around: values)
    #expect(zip(scale.ticks, ticks).allSatisfy { abs($0 / $1 - 1) < 1e-9 } && scale.ticks.count == ticks.count)
    #expect(values.allSatisfy { (0...1).contains(scale.position($0)) })
  }

  /// The names of the elements that are open at the end, or closed in another order.
  private func tags(_ text: String) throws -> [String] {
    var open: [String] = []
    for match in text.matches(of: #/<(/?)([a-z0-9]+)(?:\s[^<>]*)?>/#) {
      let name = String(match.2)
      if match.1.isEmpty {
        open.append(name)
      } else if open.last == name {
        open.removeLast()
      } else {
        return open + ["/" + name]
      }
    }
    return open
  }
}
