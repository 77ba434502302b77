import type { DeveloperToolsView, OfferedModelView } from '@contract/console-developer-tools.ts'
import { Button, Group, Menu, SegmentedControl, TextInput } from '@mantine/core'
import { IconChevronDown, IconSearch } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../i18n/use-format.ts'
import { openConfirm } from '../../ui/confirm.tsx'
import { DataTable, PageSteps } from '../../ui/data-table.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Section } from '../../ui/section.tsx'
import { modelColumns } from './model-columns.tsx'
import { type ModelRow, type ModelSwitch, useModelSwitch } from './model-rows.ts'

/** Rows on one page of the table; each has a switch, which is slow to draw. */
const pageSize = 25

type Region = 'all' | 'eu'

/** The models of the organisation's plan with the prices that are billed, and their switches. */
export function ModelsSection({ view }: { view: DeveloperToolsView }) {
  const { t } = useTranslation('devtools')
  const format = useFormat()
  const [search, setSearch] = useState('')
  const [region, setRegion] = useState<Region>('all')
  const [offset, setOffset] = useState(0)
  const change = useModelSwitch(view.organisation)
  const rows = useMemo(() => findRows(view.models, search, region), [view.models, search, region])
  const columns = useMemo(() => modelColumns(t, format, change), [t, format, change])
  const first = offset < rows.length ? offset : 0
  const shown = useMemo(() => rows.slice(first, first + pageSize), [rows, first])
  if (view.models.length === 0)
    return (
      <Section title={t('models.title')}>
        <EmptyState title={t('models.none')} text={t('models.noneText')} />
      </Section>
    )
  const filter = (apply: () => void) => {
    apply()
    setOffset(0)
  }
  return (
    <Section
      title={t('models.title')}
      description={t('models.description', {
        markup: format.percent(Number(view.organisation.markupPercent) / 100),
      })}
      actions={<SwitchMenu rows={rows} change={change} />}
    >
      <Group gap="sm">
        <TextInput
          aria-label={t('models.search')}
          placeholder={t('models.search')}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={search}
          onChange={(event) => {
            const { value } = event.currentTarget
            filter(() => setSearch(value))
          }}
          w={{ base: '100%', xs: 280 }}
        />
        <SegmentedControl
          aria-label={t('models.region')}
          data={[
            { value: 'all', label: t('models.allRegions') },
            { value: 'eu', label: t('models.euOnly') },
          ]}
          value={region}
          onChange={(value) => filter(() => setRegion(value as Region))}
        />
        <Dimmed role="status">{t('models.count', { count: rows.length, total: view.modelsTotal })}</Dimmed>
      </Group>
      <DataTable
        label={t('models.title')}
        columns={columns}
        rows={shown}
        rowId={(row) => row.model.id}
        minimumWidth={820}
        empty={<EmptyState title={t('models.noneFound')} text={t('models.noneFoundText')} />}
      />
      <PageSteps total={rows.length} limit={pageSize} offset={first} onChange={setOffset} />
    </Section>
  )
}

/** Models of which an id, or the owner, has the words. In the EU view a model is shown with its EU id and price. */
function findRows(models: OfferedModelView[], search: string, region: Region): ModelRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return models.flatMap((model) => {
    const side = region === 'eu' ? model.eu : (model.standard ?? model.eu)
    if (!side) return []
    const text = `${model.id} ${model.eu?.id ?? ''} ${model.ownedBy}`.toLowerCase()
    return words.every((word) => text.includes(word)) ? [{ model, side }] : []
  })
}

/** Switches every model that the filter shows, on all pages of the table. */
function SwitchMenu({ rows, change }: { rows: ModelRow[]; change: ModelSwitch }) {
  const { t } = useTranslation('devtools')
  const idsWhere = (enabled: boolean) =>
    rows.filter(({ model }) => model.enabled === enabled).map(({ model }) => model.id)
  const [enabled, disabled] = [idsWhere(true), idsWhere(false)]
  const disableAll = () =>
    openConfirm({
      title: t('models.disableTitle', { count: enabled.length }),
      text: t('models.disableText'),
      confirm: t('models.disable'),
      onConfirm: () => change({ disable: enabled }),
    })
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" rightSection={<IconChevronDown size={14} aria-hidden />}>
          {t('models.switchShown')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item disabled={disabled.length === 0} onClick={() => change({ enable: disabled })}>
          {t('models.enableShown', { count: disabled.length })}
        </Menu.Item>
        <Menu.Item disabled={enabled.length === 0} color="red" onClick={disableAll}>
          {t('models.disableShown', { count: enabled.length })}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
