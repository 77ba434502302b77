import { showPage } from './app/show-page.tsx'
import { startTranslations } from './i18n/translations.ts'

void new Worker(new URL('i18n/intl-worker.ts', import.meta.url), { type: 'module' })

// Not imported statically: the files that web/vite.config.ts calls `frame` have what this file and the sign-in page import.
const loading = import('./app/app.tsx')
await startTranslations()
const { App } = await loading
showPage(<App />)
