import type { DeveloperToolsView } from '@contract/console-developer-tools.ts'
import { SimpleGrid } from '@mantine/core'
import { Suspense, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { CodeSnippets } from '../../ui/code-block.tsx'
import { CopyField } from '../../ui/copy-field.tsx'
import { Dimmed } from '../../ui/dimmed.tsx'
import { PartSwitch } from '../../ui/list-controls.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Section } from '../../ui/section.tsx'
import { Select } from '../../ui/select.tsx'
import { version2Of } from './base-url.ts'
import { callableIds, firstId } from './callable-ids.ts'
import { createSnippets } from './snippets.ts'

/** Replaces a key that is no longer known. */
const keyPlaceholder = 'YOUR_API_KEY'

const SnippetsOfVersion2 = lazyPart(() => import('./snippets-of-version-2.tsx'), 'SnippetsOfVersion2')

const versions = ['1', '2'] as const

/** The base URL and programs that call the gateway, with the values of this organisation. */
export function SnippetsSection({ view, apiKey }: { view: DeveloperToolsView; apiKey: string | undefined }) {
  const { t } = useTranslation('devtools')
  const ids = useMemo(() => callableIds(view.models), [view.models])
  const [chosen, setChosen] = useState<string>()
  const model = chosen !== undefined && ids.includes(chosen) ? chosen : (firstId(view.models) ?? 'MODEL')
  const [version, setVersion] = useState<(typeof versions)[number]>('1')
  const baseUrl = version === '1' ? view.baseUrl : version2Of(view.baseUrl)
  const values = { baseUrl, apiKey: apiKey ?? keyPlaceholder, model }
  return (
    <Section title={t('snippets.title')} description={t('snippets.description')}>
      <PartSwitch
        label={t('snippets.version')}
        parts={versions.map((value) => ({ value, label: t(`snippets.versions.${value}`) }))}
        value={version}
        onChange={setVersion}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }} maw={900}>
        <CopyField label={t('snippets.baseUrl')} value={baseUrl} />
        <Select
          label={t('snippets.model')}
          data={ids}
          value={ids.length === 0 ? null : model}
          onChange={(id) => setChosen(id ?? undefined)}
          allowDeselect={false}
          searchable
          limit={100}
          nothingFoundMessage={t('models.noneFound')}
        />
      </SimpleGrid>
      <Suspense>
        {version === '1' ? (
          <CodeSnippets snippets={createSnippets(values)} />
        ) : (
          <SnippetsOfVersion2 values={values}>{(snippets) => <CodeSnippets snippets={snippets} />}</SnippetsOfVersion2>
        )}
      </Suspense>
      <Dimmed>
        {apiKey === undefined ? t('snippets.placeholder', { placeholder: keyPlaceholder }) : t('snippets.withKey')}
      </Dimmed>
    </Section>
  )
}
