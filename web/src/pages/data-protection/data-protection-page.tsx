import { Button } from '@mantine/core'
import { useSuspenseInfiniteQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { CertificateCheck } from './certificate-check.tsx'
import { ErasureForm } from './erasure-form.tsx'
import { ErasuresTable } from './erasures-table.tsx'
import { erasuresQuery } from './routes.tsx'

/** Erases a visitor or a document, and shows the certificates of it. */
export function DataProtectionPage() {
  const { t } = useTranslation('data-protection')
  const { organisationId } = useParams({ strict: false }) as { organisationId: string }
  const { data, hasNextPage, fetchNextPage, isFetchingNextPage } = useSuspenseInfiniteQuery(
    erasuresQuery(organisationId),
  )
  const erasures = data.pages.flatMap(({ items }) => items)
  return (
    <Page title={t('title')} description={t('description')}>
      <Section title={t('form.title')} description={t('form.description')}>
        <ErasureForm organisationId={organisationId} />
      </Section>
      <Section title={t('list.title')} description={t('list.description')}>
        <ErasuresTable erasures={erasures} />
        {hasNextPage && (
          <div>
            <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              {t('list.more')}
            </Button>
          </div>
        )}
      </Section>
      <Section title={t('check.title')} description={t('check.description')}>
        <CertificateCheck organisationId={organisationId} />
      </Section>
    </Page>
  )
}
