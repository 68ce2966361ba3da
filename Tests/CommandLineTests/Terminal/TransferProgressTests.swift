import TestOrigin
import Testing

/// A fetch that takes long says so in one line of the terminal, and leaves nothing of it behind.
@Suite(.timeLimit(.minutes(10))) struct TransferProgressTests {
  @Test func aWaitIsShownAndRemoved() async throws {
    let (scratch, gate, terminal) = (try Scratch(), try TestGate(), try PseudoTerminal(columns: 80, rows: 24))
    let server = try TestServer(script: [TestResponse("hello\n").held(by: gate)])
    let program = try RunningProgram(
      Binary.path, ["fetch", server.url], in: scratch, environment: ["TERM": "xterm"], outputTo: terminal.path,
      errorsTo: terminal.path)
    await terminal.shows("Waiting for 127.0.0.1:\(server.port)  0:0")
    gate.open()
    expectSuccess(try await program.end())
    let screen = Self.screen(await terminal.end())
    #expect(screen.problems.isEmpty && screen.all.first == "hello", "\(screen.all)")
    #expect(screen.all.dropFirst().first?.hasPrefix("HTTP 200") == true && screen.all.count == 2, "\(screen.all)")
  }

  @Test func contentForAFileIsCounted() async throws {
    let (scratch, gate, terminal) = (try Scratch(), try TestGate(), try PseudoTerminal(columns: 80, rows: 24))
    let content = TestBody.repeated([0x78], count: 2 << 20)
    let response = TestResponse(body: content).chunked(1 << 16).contentHeld(by: gate, after: 1 << 20)
    let server = try TestServer(script: [response])
    let program = try RunningProgram(
      Binary.path, ["fetch", server.url, "-o", "file"], in: scratch, environment: ["TERM": "xterm"],
      errorsTo: terminal.path)
    await terminal.shows("127.0.0.1:\(server.port)  1.0 MiB, ")
    gate.open()
    expectSuccess(try await program.end())
    #expect(Self.screen(await terminal.end()).all.count == 1)
    #expect(try scratch.read("work/file").count == 2 << 20)
  }

  /// A server can send control characters of C1 in a field.
  @Test func aFieldIsHarmlessOnATerminal() async throws {
    let (scratch, terminal) = (try Scratch(), try PseudoTerminal(columns: 80, rows: 24))
    let server = try TestServer { _ in TestResponse(fields: ["X-Field": "a\u{9B}31mb"], "hello\n") }
    let program = try RunningProgram(
      Binary.path, ["fetch", server.url, "-w", #"%header{x-field}\n"#], in: scratch, environment: ["TERM": "xterm"],
      outputTo: terminal.path)
    expectSuccess(try await program.end())
    let text = await terminal.end()
    #expect(text.contains(#"a\u{9B}31mb"#) && !text.contains("\u{9B}"), "\(text)")
  }

  private static func screen(_ text: String) -> ScreenModel {
    var screen = ScreenModel(columns: 80, rows: 24)
    screen.write(text)
    return screen
  }
}
