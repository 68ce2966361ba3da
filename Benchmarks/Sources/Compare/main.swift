internal import Glibc

// Measures two programs in turns, and prints rows of a Markdown table. Fails where one of them fails, or where they
// have not read the same.
// Arguments: METRIC[,METRIC...] LABEL ROUNDS TARGET [fresh TEMPLATE STORE] -- FLOOR... -- PROJECT...

do {
  let row = try Row(arguments: Array(CommandLine.arguments.dropFirst()))
  for line in try row.measured() { print(line) }
} catch let mistake as Row.Mistake {
  complain(mistake.message)
  exit(64)
} catch {
  complain("\(error)")
  exit(1)
}

func complain(_ what: String) {
  let line = Array("Compare: \(what)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
}
