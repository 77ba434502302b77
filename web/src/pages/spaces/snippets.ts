/** Requests to copy, with the address of the endpoint. The key is left out: the console cannot show it again. */

const keyPlaceholder = 'YOUR_API_KEY'

export interface SnippetOptions {
  endpointUrl: string
  streaming: boolean
  /** Names of the switch headers that are on. */
  headers: string[]
}

const question = 'What does a ticket cost?'

export function curlSnippet({ endpointUrl, streaming, headers }: SnippetOptions): string {
  const body = JSON.stringify({ messages: [{ role: 'user', content: question }], streaming })
  return [
    `curl ${streaming ? '-N ' : ''}${endpointUrl} \\`,
    `  -H "x-api-key: ${keyPlaceholder}" \\`,
    `  -H "content-type: application/json" \\`,
    ...headers.map((name) => `  -H "${name}: true" \\`),
    `  -d '${body}'`,
  ].join('\n')
}

export function typescriptSnippet({ endpointUrl, streaming, headers }: SnippetOptions): string {
  const request = [
    `const response = await fetch('${endpointUrl}', {`,
    `  method: 'POST',`,
    `  headers: {`,
    `    'x-api-key': '${keyPlaceholder}',`,
    `    'content-type': 'application/json',`,
    ...headers.map((name) => `    '${name}': 'true',`),
    `  },`,
    `  body: JSON.stringify({`,
    `    messages: [{ role: 'user', content: '${question}' }],`,
    `    streaming: ${streaming},`,
    `  }),`,
    `})`,
    `if (!response.ok) throw new Error((await response.json()).error.message)`,
  ]
  const whole = [`const answer = await response.json()`, `console.log(answer.content, answer.references)`]
  const events = [
    `let waiting = ''`,
    `for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {`,
    `  const blocks = (waiting + text).split('\\n\\n')`,
    `  waiting = blocks.pop()!`,
    `  for (const block of blocks) {`,
    `    const event = /^event: (.*)$/m.exec(block)?.[1]`,
    `    const data = /^data: (.*)$/m.exec(block)?.[1]`,
    `    if (!event || !data) continue // a comment keeps the connection open`,
    `    const value = JSON.parse(data)`,
    `    if (event === 'assistant_write') process.stdout.write(value.delta)`,
    `    else if (event === 'references') console.log(value.references)`,
    `    else if (event === 'error') throw new Error(value.error)`,
    `  }`,
    `}`,
  ]
  return [...request, ...(streaming ? events : whole)].join('\n')
}

export function pythonSnippet({ endpointUrl, streaming, headers }: SnippetOptions): string {
  const request = [
    `import json, requests`,
    ``,
    `response = requests.post(`,
    `    "${endpointUrl}",`,
    `    headers={`,
    `        "x-api-key": "${keyPlaceholder}",`,
    ...headers.map((name) => `        "${name}": "true",`),
    `    },`,
    `    json={`,
    `        "messages": [{"role": "user", "content": "${question}"}],`,
    `        "streaming": ${streaming ? 'True' : 'False'},`,
    `    },`,
    ...(streaming ? [`    stream=True,`] : []),
    `    timeout=120,`,
    `)`,
    `if not response.ok:`,
    `    raise RuntimeError(response.json()["error"]["message"])`,
  ]
  const whole = [`answer = response.json()`, `print(answer["content"], answer["references"])`]
  const events = [
    `event = None`,
    `for line in response.iter_lines():`,
    `    line = line.decode()`,
    `    if line.startswith("event: "):`,
    `        event = line[7:]`,
    `    elif line.startswith("data: "):`,
    `        value = json.loads(line[6:])`,
    `        if event == "assistant_write":`,
    `            print(value["delta"], end="", flush=True)`,
    `        elif event == "references":`,
    `            print(value["references"])`,
    `        elif event == "error":`,
    `            raise RuntimeError(value["error"])`,
  ]
  return [...request, ...(streaming ? events : whole)].join('\n')
}

/** How three assistants are connected with the MCP server of the Space. */
export function mcpSnippets(endpointUrl: string): { label: string; code: string }[] {
  const url = endpointUrl.replace(/\/v1(\/endpoints\/[^/]+)\/chat$/, '/v2$1/mcp')
  const headers = { Authorization: `Bearer ${keyPlaceholder}` }
  const asJson = (value: object) => JSON.stringify(value, null, 2)
  return [
    {
      label: 'Claude Code',
      code: `claude mcp add --transport http portico ${url} \\\n  --header "Authorization: ${headers.Authorization}"`,
    },
    { label: 'VS Code', code: asJson({ servers: { portico: { type: 'http', url, headers } } }) },
    { label: 'Cursor', code: asJson({ mcpServers: { portico: { url, headers } } }) },
  ]
}
