import { showPage } from './app/show-page.tsx'
import { startTranslations } from './i18n/translations.ts'

// Not imported statically: the files that web/vite.config.ts calls `frame` have what this file and the sign-in page import.
const loading = import('./app/app.tsx')
await startTranslations()
const { App } = await loading
showPage(<App />)
