import './coloured-code.css'
import type { LanguageFn } from 'highlight.js'
import { createLowlight } from 'lowlight'
import { Fragment, memo, type ReactNode, useEffect, useState } from 'react'

const lowlight = createLowlight()

/** Each loads when code in it is first shown. */
const languages: Record<string, () => Promise<{ default: LanguageFn }>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  css: () => import('highlight.js/lib/languages/css'),
  go: () => import('highlight.js/lib/languages/go'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  php: () => import('highlight.js/lib/languages/php'),
  python: () => import('highlight.js/lib/languages/python'),
  sql: () => import('highlight.js/lib/languages/sql'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
}
const aliases: Record<string, string> = {
  sh: 'bash',
  shell: 'bash',
  html: 'xml',
  js: 'javascript',
  py: 'python',
  ts: 'typescript',
  yml: 'yaml',
}

type Nodes = ReturnType<typeof lowlight.highlight>['children']

/** `language`: a name or an alias. Plain in a language that is not known. */
export const ColouredCode = memo(function ColouredCode({ code, language }: { code: string; language: string }) {
  const name = aliases[language.toLowerCase()] ?? language.toLowerCase()
  const [isReady, setReady] = useState(() => lowlight.registered(name))
  useEffect(() => {
    const load = Object.hasOwn(languages, name) ? languages[name] : undefined
    void load?.().then(({ default: definition }) => {
      lowlight.register(name, definition)
      setReady(true)
    })
  }, [name])
  return isReady && lowlight.registered(name) ? render(lowlight.highlight(name, code).children) : code
})

function render(nodes: Nodes): ReactNode {
  return nodes.map((node, index) => {
    if (node.type === 'text') return <Fragment key={index}>{node.value}</Fragment>
    if (node.type !== 'element') return null
    const names = node.properties['className']
    return (
      <span key={index} className={Array.isArray(names) ? names.join(' ') : undefined}>
        {render(node.children as Nodes)}
      </span>
    )
  })
}
