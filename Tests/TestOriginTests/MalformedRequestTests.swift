import TestOrigin
import Testing

/// What is no request ends its connection, and nothing else.
@Suite struct MalformedRequestTests {
  @Test(arguments: [
    "Content-Length: -5\n\nhello", "Content-Length: +5\n\nhello", "Content-Length: five\n\nhello",
    "Content-Length: 5\nContent-Length: 6\n\nhello!", "Transfer-Encoding: chunked\n\n-3\nhel\n0\n\n",
    "Transfer-Encoding: chunked\n\n+3\nhel\n0\n\n", "Transfer-Encoding: chunked\n\nx\nhel\n0\n\n", "no field\n\n",
  ])
  func theConnectionEndsAndTheServerGoesOn(message: String) throws {
    let server = try TestServer(script: [TestResponse("hello")])
    let client = try RawClient(server)
    client.send("PUT / HTTP/1.1\n" + message)
    #expect(client.rest().isEmpty && server.count == 0)
    #expect(try RawClient.answer(of: server).content == "hello")
  }
}
