import type { SetupState } from '@contract/people.ts'
import { getJson } from './api/client.ts'
import { PublicFrame } from './app/public-frame.tsx'
import { showPage } from './app/show-page.tsx'
import { startTranslations, withTexts } from './i18n/translations.ts'
import { SignInPage, SignInUnavailable } from './pages/accounts/sign-in-page.tsx'

/** The sign-in page is a separate document: it loads a part of the code that the others need. */

const loadSetup = () => getJson<SetupState>('/api/setup')

async function show(loading: Promise<SetupState>): Promise<void> {
  try {
    const setup = await withTexts('accounts', loading)
    if (setup.required) return globalThis.location.replace('/console/setup')
    showPage(
      <PublicFrame>
        <SignInPage setup={setup} />
      </PublicFrame>,
    )
  } catch (error) {
    showPage(
      <PublicFrame>
        <SignInUnavailable error={error} onRetry={() => void show(loadSetup())} />
      </PublicFrame>,
    )
  }
}

// While the texts load.
const setup = loadSetup()
await startTranslations()
await show(setup)
