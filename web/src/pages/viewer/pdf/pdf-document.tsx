import { Button, Skeleton } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { PdfPages, type ShownPages } from './pdf-pages.tsx'
import { usePdf } from './use-pdf.ts'

/** A pdf, loaded by ranges, with the target highlighted and the warnings on their pages. */
export function PdfDocument({ url, ...shown }: { url: string } & Omit<ShownPages, 'pdf'>) {
  const { t } = useTranslation('viewer')
  const router = useRouter()
  const state = usePdf(url)
  if (state.status === 'loading') return <Skeleton flex={1} role="status" aria-label={t('pdf.loading')} />
  if (state.status === 'ready') return <PdfPages pdf={state.pdf} {...shown} />
  return (
    <EmptyState
      drawing="broken"
      title={t(`pdf.failure.${state.reason}`)}
      text={t(`pdf.failureText.${state.reason}`)}
      action={
        state.reason === 'removed' ? undefined : (
          <Button variant="default" onClick={() => void router.invalidate()}>
            {t('reload')}
          </Button>
        )
      }
    />
  )
}
