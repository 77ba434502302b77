import { useDebouncedValue } from '@mantine/hooks'
import { Suspense } from 'react'
import { lazyPart } from './lazy-part.tsx'

const ColouredCode = lazyPart(() => import('./coloured-code.tsx'), 'ColouredCode')

/** Longer code is shown without colours: reading it takes time in the reader's browser. */
const maximumCharacters = 20_000
/** Code that an answer is still writing gets its colours when it has been the same for so long. */
const unchangedMs = 300

/** Code with the colours of its language; plain until they are loaded, and in a language that is not known. */
export function HighlightedCode({ code, language }: { code: string; language: string | null | undefined }) {
  const [unchanged] = useDebouncedValue(code, unchangedMs)
  if (!language || code.length > maximumCharacters || unchanged !== code) return code
  return (
    <Suspense fallback={code}>
      <ColouredCode code={code} language={language} />
    </Suspense>
  )
}
