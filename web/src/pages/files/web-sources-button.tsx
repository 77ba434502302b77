import { Button } from '@mantine/core'
import { IconWorldDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { withTexts } from '../../i18n/translations.ts'
import { lazyPart, OnceOpened } from '../../ui/lazy-part.tsx'

const WebSourcesDialog = lazyPart(
  () => withTexts('web-sources', import('../web-sources/web-sources-dialog.tsx')),
  'WebSourcesDialog',
)

/** Opens the web addresses of a Space. */
export function WebSourcesButton({ spaceId }: { spaceId: string }) {
  const { t } = useTranslation('files')
  const [opened, setOpened] = useState(false)
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconWorldDownload size={16} aria-hidden />}
        onClick={() => setOpened(true)}
      >
        {t('web')}
      </Button>
      <OnceOpened opened={opened}>
        <WebSourcesDialog {...{ spaceId, opened }} onClose={() => setOpened(false)} />
      </OnceOpened>
    </>
  )
}
