import { Button, Group } from '@mantine/core'
import { useSuspenseInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { Dimmed } from '../../ui/dimmed.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import { Filters } from './filters.tsx'
import { endings, useNames } from './names.ts'
import { RequestsTable } from './requests-table.tsx'
import { requestsQuery } from './usage-query.ts'
import { useUsage } from './use-usage.ts'

/** Single requests, newest first, with a link to the receipt of each. */
export function RequestsView() {
  const { t } = useTranslation('usage')
  const format = useFormat()
  const { organisationId, search } = useUsage()
  const requests = useSuspenseInfiniteQuery(requestsQuery(organisationId, search))
  const { data, hasNextPage, isFetchingNextPage } = requests
  const items = data.pages.flatMap((page) => page.items)
  const { searchedTo, removedTo } = data.pages.at(-1)!
  return (
    <>
      <Group gap="sm" align="flex-end">
        <Filters options={data.pages[0]?.options} />
        <EndingSelect />
      </Group>
      <Section title={t('requests.title')}>
        {items.length === 0 && !hasNextPage ? (
          <EmptyState title={t('requests.empty')} text={t('requests.emptyText')} />
        ) : (
          <RequestsTable organisationId={organisationId} items={items} />
        )}
        {hasNextPage && (
          <Group justify="center" gap="sm">
            <Button variant="default" loading={isFetchingNextPage} onClick={() => void requests.fetchNextPage()}>
              {items.length === 0 ? t('requests.searchOn') : t('requests.more')}
            </Button>
            <Dimmed>{t('requests.searchedTo', { time: format.dateTime(searchedTo) })}</Dimmed>
          </Group>
        )}
        {!hasNextPage && removedTo !== null && (
          <Dimmed>{t('requests.removed', { time: format.dateTime(removedTo) })}</Dimmed>
        )}
      </Section>
    </>
  )
}

function EndingSelect() {
  const { t } = useTranslation('usage')
  const names = useNames()
  const { search, change } = useUsage()
  return (
    <Select
      label={t('requests.ending')}
      placeholder={t('filters.all')}
      data={endings.map((id) => ({ value: id, label: names.ending(id) }))}
      value={search.ending ?? null}
      onChange={(ending) => change({ ending: ending ?? undefined })}
      clearable
      w={190}
    />
  )
}
