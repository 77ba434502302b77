import './mantine.css'
import './app.css'
import { MantineProvider } from '@mantine/core'
import type { ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { useTranslation } from 'react-i18next'
import { createLabelledTheme, cssVariables } from './theme.ts'

/** The nonce of this page, which the Content-Security-Policy requires on the style elements that Mantine creates. */
function readNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}

// Dialogs add a style element that hides the scroll bar of the page; their library (get-nonce) reads the nonce from this name.
Object.assign(globalThis, { __webpack_nonce__: readNonce() })

const root = createRoot(document.getElementById('root')!)

/** Shows the content of a document, in the theme of the console. */
export function showPage(content: ReactNode): void {
  root.render(<Themed>{content}</Themed>)
}

function Themed({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <MantineProvider
      theme={createLabelledTheme(t('close'))}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={readNonce}
    >
      {children}
    </MantineProvider>
  )
}
