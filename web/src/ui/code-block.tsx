import '@mantine/core/styles/Tabs.css'
import { Box, Code, Tabs } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'
import { HighlightedCode } from './highlighted-code.tsx'

/** Code to copy. It scrolls inside its frame. `language`: for its colours. */
export function CodeBlock({ code, label, language }: { code: string; label?: string; language: string }) {
  return (
    <Box pos="relative">
      <Code block pr={44} fz="xs" tabIndex={0} aria-label={label} role={label ? 'region' : undefined}>
        <HighlightedCode code={code} language={language} />
      </Code>
      <Box pos="absolute" top={6} right={6}>
        <CopyButton value={code} />
      </Box>
    </Box>
  )
}

/** The same example in several languages. */
export function CodeSnippets({ snippets }: { snippets: { label: string; code: string }[] }) {
  // Values become ids, which must not have spaces.
  return (
    <Tabs defaultValue="0" keepMounted={false}>
      <Tabs.List mb="xs">
        {snippets.map(({ label }, index) => (
          <Tabs.Tab key={label} value={String(index)}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {snippets.map(({ label, code }, index) => (
        <Tabs.Panel key={label} value={String(index)}>
          <CodeBlock code={code} language={languageOf(label, code)} />
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

/** Labels of programs name the library and its language; the others are commands or JSON. */
function languageOf(label: string, code: string): string {
  if (code.startsWith('{')) return 'json'
  if (/^(?:curl|claude) /.test(code)) return 'bash'
  return label.endsWith('Python') ? 'python' : 'typescript'
}
