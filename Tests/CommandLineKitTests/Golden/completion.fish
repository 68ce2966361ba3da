# Completes the command lines of tool in fish.

function __tool_takes_value
  switch "$argv[1] $argv[2]"
    case '* -o' '* --order' '* --page' '* -l' '* --limit' '* --header' '* --method' '* -d' '* --data' '* --age' '* --from' '* --chunk' '* --config' '* --backend' '* --home' '* --output' '* --namespace'
      return 0
  end
  return 1
end

function __tool_scan
  set -l nodes 'tool' 'tool fetch' 'tool fetch cities' 'tool fetch url' 'tool ls' 'tool rm' 'tool backends' 'tool backends list' 'tool backends show' 'tool shift' 'tool help' 'tool help fetch' 'tool help backends'
  set -l node 'tool'
  set -l position 0
  set -l skip 0
  set -l ended 0
  for word in (commandline -opc)[2..-1]
    if test $skip = 1
      set skip 0
    else if test $ended = 1
      set position (math $position + 1)
    else if test "$word" = --
      set ended 1
    else if string match -q -- '-?*' "$word"
      if __tool_takes_value "$node" "$word"
        set skip 1
      end
    else if contains -- "$node $word" $nodes
      set node "$node $word"
    else
      set position (math $position + 1)
    end
  end
  echo $node
  echo $position
end

function __tool_at
  set -l place (__tool_scan)
  contains -- "$place[1]" $argv
end

function __tool_argument
  set -l place (__tool_scan)
  test "$place[1]" = "$argv[1]"; and test $place[2] -ge $argv[2]; and test $place[2] -le $argv[3]
end

function __tool_ask
  set -l words (commandline -opc)
  set -l program (string replace -r '^~' "$HOME" -- $words[1])
  set -l current (string replace -r '^--[^=]*=' '' -- (commandline -ct))
  $program __complete $argv[1] "$current" $words[2..-1] 2>/dev/null </dev/null
end

complete -c 'tool' -f
complete -c 'tool' -n '__tool_at \'tool\'' -a 'fetch' -d 'Fetch a resource'
complete -c 'tool' -n '__tool_at \'tool\'' -a 'ls' -d 'List entries'
complete -c 'tool' -n '__tool_at \'tool\'' -a 'rm' -d 'Remove entries'
complete -c 'tool' -n '__tool_at \'tool\'' -a 'backends' -d 'Show the engines'
complete -c 'tool' -n '__tool_at \'tool\'' -a 'shift' -d 'Copy a store into another engine'
complete -c 'tool' -n '__tool_at \'tool\'' -a 'help' -d 'Show the help of a command'
complete -c 'tool' -n '__tool_at \'tool fetch\'' -a 'cities' -d 'Show cities, ordered'
complete -c 'tool' -n '__tool_at \'tool fetch\'' -a 'url' -d 'Fetch any URL'
complete -c 'tool' -n '__tool_at \'tool backends\'' -a 'list' -d 'List the engines'
complete -c 'tool' -n '__tool_at \'tool backends\'' -a 'show' -d 'Show an engine'
complete -c 'tool' -n '__tool_at \'tool help\'' -a 'fetch' -d 'Fetch a resource'
complete -c 'tool' -n '__tool_at \'tool help\'' -a 'ls' -d 'List entries'
complete -c 'tool' -n '__tool_at \'tool help\'' -a 'rm' -d 'Remove entries'
complete -c 'tool' -n '__tool_at \'tool help\'' -a 'backends' -d 'Show the engines'
complete -c 'tool' -n '__tool_at \'tool help\'' -a 'shift' -d 'Copy a store into another engine'
complete -c 'tool' -n '__tool_at \'tool help fetch\'' -a 'cities' -d 'Show cities, ordered'
complete -c 'tool' -n '__tool_at \'tool help fetch\'' -a 'url' -d 'Fetch any URL'
complete -c 'tool' -n '__tool_at \'tool help backends\'' -a 'list' -d 'List the engines'
complete -c 'tool' -n '__tool_at \'tool help backends\'' -a 'show' -d 'Show an engine'
complete -c 'tool' -n '__tool_at \'tool\' \'tool fetch\' \'tool fetch cities\'' -s o -l order -x -a '\'revenue\' \'organizations\' \'name\'' -d 'What to order the cities by, the greatest first unless told otherwise'
complete -c 'tool' -n '__tool_at \'tool\' \'tool fetch\' \'tool fetch cities\'' -l page -x -d 'The page, from 0'
complete -c 'tool' -n '__tool_at \'tool\' \'tool fetch\' \'tool fetch cities\'' -s l -l limit -x -d 'How many to show'
complete -c 'tool' -n '__tool_at \'tool\' \'tool fetch\' \'tool fetch cities\'' -s a -l all -d 'Show all pages'
complete -c 'tool' -l config -r -F -d 'The configuration to use'
complete -c 'tool' -l backend -x -a '\'memory\' \'sqlite\' \'lmdb\'' -d 'The engine to use'
complete -c 'tool' -l home -x -a '(__fish_complete_directories)' -d 'Where stores live'
complete -c 'tool' -l output -x -a '\'table\' \'json\' \'ndjson\' \'csv\'' -d 'How to write the answer'
complete -c 'tool' -s q -l quiet -d 'Say nothing but errors'
complete -c 'tool' -s v -l verbose -d 'Say more'
complete -c 'tool' -l no-color -d 'Use no colour'
complete -c 'tool' -n '__tool_at \'tool\' \'tool fetch\' \'tool fetch url\'' -l header -x -d 'A header to send'
complete -c 'tool' -n '__tool_at \'tool\' \'tool fetch\' \'tool fetch url\'' -l method -x -d 'The method'
complete -c 'tool' -n '__tool_at \'tool\' \'tool fetch\' \'tool fetch url\'' -s d -l data -x -d 'The body'
complete -c 'tool' -n '__tool_at \'tool\' \'tool ls\'' -l age -x -d 'Only entries of this age in hours, which may be negative'
complete -c 'tool' -n '__tool_at \'tool\' \'tool rm\'' -l namespace -x -a '(__tool_ask namespaces)' -d 'Only entries of this namespace'
complete -c 'tool' -n '__tool_at \'tool\' \'tool shift\'' -l from -x -d 'The engine to read'
complete -c 'tool' -n '__tool_at \'tool\' \'tool shift\'' -l chunk -x -d 'How many bytes at once'
complete -c 'tool' -n '__tool_at \'tool\' \'tool shift\'' -l dry-run -d 'Change nothing'
complete -c 'tool' -s h -l help -d 'Show this help'
complete -c 'tool' -n '__tool_at \'tool\'' -l version -d 'Show the version'
complete -c 'tool' -n '__tool_argument \'tool ls\' 0 9999' -F
complete -c 'tool' -n '__tool_argument \'tool rm\' 0 9999' -a '(__tool_ask keys)'
complete -c 'tool' -n '__tool_argument \'tool backends show\' 0 0' -a '\'memory\' \'sqlite\' \'lmdb\''
