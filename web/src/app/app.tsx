import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { OverlayPlace } from '../ui/overlays.tsx'
import { queryClient } from './query-client.ts'
import { router } from './router.ts'
import { SessionPlace } from './session-place.tsx'
import { createLabelledTheme, cssVariables } from './theme.ts'

/** The nonce of this page, which the Content-Security-Policy requires on the style elements that Mantine creates. */
function readNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}

// Dialogs add a style element that hides the scroll bar of the page; their library (get-nonce) reads the nonce from this name.
Object.assign(globalThis, { __webpack_nonce__: readNonce() })

export function App() {
  const { t } = useTranslation()
  return (
    <MantineProvider
      theme={createLabelledTheme(t('close'))}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={readNonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <OverlayPlace />
        <SessionPlace />
      </QueryClientProvider>
    </MantineProvider>
  )
}
