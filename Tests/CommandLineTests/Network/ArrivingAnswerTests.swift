import Foundation
import TestOrigin
import Testing

/// `fetch url` of responses that arrive in pieces.
@Suite struct ArrivingAnswerTests {
  private static let events = ["data: one\n\n", "data: two\n\n"]

  /// The server sends the second event only when the program has passed on the first one.
  @Test(
    arguments: [["no-store"], ["max-age=60"]] as [[String]],
    [[], ["--compressed"], ["-i"], ["-o", "/dev/stdout"]] as [[String]])
  func eachEventIsPassedOnWhenItArrives(control: [String], options: [String]) async throws {
    let (scratch, gate) = (try Scratch(), try TestGate())
    let pieces = Self.events.map { event in
      options == ["--compressed"] ? Gzip.compress(Array(event.utf8)) : Array(event.utf8)
    }
    var fields: TestFields = ["Content-Type": "text/event-stream", "Cache-Control": control.joined(separator: ", ")]
    if options == ["--compressed"] { fields["Content-Encoding"] = "gzip" }
    let answer = TestResponse(fields: fields, body: .bytes(pieces.flatMap { $0 }))
      .chunked(pieces[0].count).contentHeld(by: gate, after: pieces[0].count)
    let server = try TestServer(script: [answer])
    let output = scratch.path("work/output")
    let command = ["fetch", "url", server.url] + options
    let program = try RunningProgram(Binary.path, command, in: scratch, outputTo: output)
    await program.waits {
      String(decoding: FileManager.default.contents(atPath: output) ?? Data(), as: UTF8.self).hasSuffix(Self.events[0])
    }
    #expect(String(decoding: try scratch.read("work/output"), as: UTF8.self).hasSuffix(Self.events[0]))
    gate.open()
    expectSuccess(try await program.end())
    let text = String(decoding: try scratch.read("work/output"), as: UTF8.self)
    #expect(text.hasSuffix(Self.events.joined()) && text.hasPrefix("HTTP/1.1 200") == (options == ["-i"]))
    guard control != ["no-store"] else { return }
    let stored = try await scratch.cachectl(["fetch", "url", server.url, "--offline"] + options.filter { $0 != "-i" })
    #expect(stored.text == Self.events.joined() && server.count == 1)
  }

  /// A response that another process removes meanwhile is not kept. Only `--require-store` makes that a failure.
  @Test(arguments: [[], ["--require-store"]] as [[String]])
  func aResponseThatIsRemovedWhileItArrivesIsNotStored(options: [String]) async throws {
    let (scratch, gate) = (try Scratch(), try TestGate())
    let answer = TestResponse(fields: ["Cache-Control": "max-age=60"], Self.events.joined())
      .chunked(11).contentHeld(by: gate, after: 11)
    let server = try TestServer(script: [answer])
    let output = scratch.path("work/output")
    let command = ["fetch", "url", server.url]
    let program = try RunningProgram(Binary.path, command + options, in: scratch, outputTo: output)
    await program.waits { FileManager.default.contents(atPath: output) == Data(Self.events[0].utf8) }
    expectSuccess(try await scratch.cachectl("rm", "--all", "--yes"))
    gate.open()
    #expect(try await program.end().status == (options.isEmpty ? 0 : 74))
    #expect(try scratch.read("work/output") == Data(Self.events.joined().utf8))
    #expect(try await scratch.cachectl(command + ["--offline"]).status == 66)
  }

  /// A named file is complete or absent, even if the program is interrupted while the response arrives.
  @Test func aFileIsCompleteOrNotThere() async throws {
    let (scratch, gate) = (try Scratch(), try TestGate())
    let answer = TestResponse(fields: ["Cache-Control": "no-store"], Self.events.joined())
      .chunked(11).contentHeld(by: gate, after: 11)
    let server = try TestServer(script: [answer])
    let command = ["fetch", "url", server.url, "-o", "file"]
    let program = try RunningProgram(Binary.path, command, in: scratch)
    await server.received(1)
    program.signal(SIGINT)
    #expect(try await program.end().status == 130)
    #expect(!scratch.names(below: "work").contains { $0.hasPrefix("file") })
  }

  /// A terminal gets the text of a response while it arrives.
  @Test func aTerminalShowsEachEventWhenItArrives() async throws {
    let (scratch, gate) = (try Scratch(), try TestGate())
    let answer = TestResponse(fields: ["Cache-Control": "no-store"], Self.events.joined())
      .chunked(11).contentHeld(by: gate, after: 11)
    let server = try TestServer(script: [answer])
    let terminal = try PseudoTerminal(columns: 80, rows: 24)
    let program = try RunningProgram(
      Binary.path, ["fetch", "url", server.url], in: scratch, outputTo: terminal.path)
    await terminal.shows("data: one")
    gate.open()
    expectSuccess(try await program.end())
    await terminal.shows("data: two")
  }
}
