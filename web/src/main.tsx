import './app/mantine.css'
import '@mantine/notifications/styles.css'
import './app/app.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { startTranslations } from './i18n/translations.ts'

await startTranslations()
createRoot(document.getElementById('root')!).render(<App />)
