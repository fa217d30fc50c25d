# The page and the API of the Chinese pipeline: see docs/recipes.md.
ARG PYTHON=3.12

FROM python:${PYTHON} AS build
WORKDIR /src
COPY . .
RUN make wheels PYTHON=python3

FROM python:${PYTHON}-slim
COPY --from=build /src/dist /dist
# hadolint ignore=DL3013
RUN pip install --no-cache-dir --find-links /dist "spacy_structreg[serve]" zh_structreg && rm -r /dist
# Nobody, by number: Kubernetes does not look names up.
USER 65534
EXPOSE 8000
HEALTHCHECK --start-period=60s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/health', timeout=3)"]
CMD ["python", "-m", "spacy", "structreg", "serve", "zh_structreg", "--host", "0.0.0.0"]
