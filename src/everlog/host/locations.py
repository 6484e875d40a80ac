"""Addresses of data, and their forms for Spark and delta-rs.

An address is a path, ``file://``, ``s3://bucket/path``, ``gs://bucket/path``,
``abfss://container@account.dfs.core.windows.net/path`` or ``hdfs://host/path``. The forms that Spark and delta-rs use
are understood, too. Credentials come from the environment variables that the vendors' own tools read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from everlog.host.addresses import local_path, scheme_of
from everlog.lang.codes import Code
from everlog.lang.errors import DataError, Place

SCHEMES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "abfss": "abfss", "abfs": "abfss", "hdfs": "hdfs"}
"""Schemes of addresses, each with the one that it is an alias of."""

SPARK_SCHEMES = {"s3": "s3a"}
"""Schemes that have another name in Spark."""


@dataclass(frozen=True)
class LocationSetting:
    """A setting of an object store: the environment variables it is read from, and its names in Spark and delta-rs."""

    variables: tuple[str, ...]
    spark: str | None
    delta: str | None

    def value(self, environment: Mapping[str, str]) -> str | None:
        return next((environment[name] for name in self.variables if environment.get(name)), None)


AZURE_OAUTH = "fs.azure.account.oauth2.client"

SETTINGS: Mapping[str, tuple[LocationSetting, ...]] = {
    "s3": (
        LocationSetting(("AWS_ACCESS_KEY_ID",), "fs.s3a.access.key", "aws_access_key_id"),
        LocationSetting(("AWS_SECRET_ACCESS_KEY",), "fs.s3a.secret.key", "aws_secret_access_key"),
        LocationSetting(("AWS_SESSION_TOKEN",), "fs.s3a.session.token", "aws_session_token"),
        LocationSetting(("AWS_REGION", "AWS_DEFAULT_REGION"), "fs.s3a.endpoint.region", "aws_region"),
        LocationSetting(("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"), "fs.s3a.endpoint", "aws_endpoint_url"),
    ),
    "gs": (
        LocationSetting(
            ("GOOGLE_APPLICATION_CREDENTIALS",),
            "fs.gs.auth.service.account.json.keyfile",
            "google_application_credentials",
        ),
    ),
    "abfss": (
        LocationSetting(("AZURE_STORAGE_ACCOUNT_NAME",), None, "azure_storage_account_name"),
        LocationSetting(("AZURE_STORAGE_ACCOUNT_KEY",), "fs.azure.account.key", "azure_storage_account_key"),
        LocationSetting(("AZURE_CLIENT_ID",), f"{AZURE_OAUTH}.id", "azure_storage_client_id"),
        LocationSetting(("AZURE_CLIENT_SECRET",), f"{AZURE_OAUTH}.secret", "azure_storage_client_secret"),
        LocationSetting(("AZURE_TENANT_ID",), None, "azure_storage_tenant_id"),
    ),
    "hdfs": (),
}


def kind_of(place: str | Path) -> str | None:
    """The kind of store of an address: s3, gs, abfss, hdfs; None for a path.

    >>> kind_of("s3a://bucket/facts"), kind_of("data/facts"), kind_of("file:///data")
    ('s3', None, None)
    """
    scheme = scheme_of(place)
    if scheme in (None, "file"):
        return None
    if scheme not in SCHEMES:
        known = "use a path, file://, s3://, gs://, abfss:// or hdfs://"
        message = f"nothing is known about {scheme}:// addresses"
        raise DataError.of(Code.UNKNOWN_SCHEME, message, Place(str(place)), known)
    return SCHEMES[scheme]


def spark_uri(place: str | Path) -> str:
    """The address of a place for Spark.

    A path gets a scheme: without one Spark would look for it in the cluster's default file system.

    >>> spark_uri("s3://bucket/a b"), spark_uri("/data/x y"), spark_uri("gs://bucket/x")
    ('s3a://bucket/a b', 'file:///data/x y', 'gs://bucket/x')
    """
    kind = kind_of(place)
    if kind is None:
        return f"file://{local_path(place).absolute()}"
    return f"{SPARK_SCHEMES.get(kind, kind)}://{str(place).partition('://')[2]}"


def delta_uri(place: str | Path) -> str:
    """The address of a place for delta-rs.

    >>> delta_uri("s3a://bucket/table"), delta_uri("file:///data/x")
    ('s3://bucket/table', '/data/x')
    """
    kind = kind_of(place)
    return str(local_path(place)) if kind is None else f"{kind}://{str(place).partition('://')[2]}"


def spark_options(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The options with which a Spark session reaches the object stores that the environment configures.

    >>> spark_options({"AWS_ACCESS_KEY_ID": "k", "AWS_ENDPOINT_URL": "http://host:9000"})["spark.hadoop.fs.s3a.access.key"]
    'k'
    """
    found: dict[str, str] = {}
    for setting in (setting for settings in SETTINGS.values() for setting in settings):
        value = setting.value(environment)
        if setting.spark is not None and value is not None:
            found[setting.spark] = value
    if "fs.s3a.session.token" in found:
        found["fs.s3a.aws.credentials.provider"] = "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider"
    if "fs.s3a.endpoint" in found:
        found["fs.s3a.path.style.access"] = "true"
        found["fs.s3a.connection.ssl.enabled"] = str(not found["fs.s3a.endpoint"].startswith("http://")).lower()
    if "fs.gs.auth.service.account.json.keyfile" in found:
        found["fs.gs.auth.type"] = "SERVICE_ACCOUNT_JSON_KEYFILE"
    if f"{AZURE_OAUTH}.id" in found and (tenant := environment.get("AZURE_TENANT_ID")):
        found["fs.azure.account.auth.type"] = "OAuth"
        found["fs.azure.account.oauth.provider.type"] = "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider"
        found[f"{AZURE_OAUTH}.endpoint"] = f"https://login.microsoftonline.com/{tenant}/oauth2/token"
    return {f"spark.hadoop.{name}": value for name, value in found.items()}


def storage_options(place: str | Path, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The ``storage_options`` with which delta-rs reaches a place; none for a path.

    >>> storage_options("s3://bucket/t", {"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": "http://host:9000"})
    {'aws_region': 'eu-west-1', 'aws_endpoint_url': 'http://host:9000', 'aws_allow_http': 'true'}
    """
    kind = kind_of(place)
    settings = () if kind is None else SETTINGS[kind]
    values = {setting.delta: setting.value(environment) for setting in settings if setting.delta is not None}
    found = {name: value for name, value in values.items() if value is not None}
    if found.get("aws_endpoint_url", "").startswith("http://"):
        found["aws_allow_http"] = "true"
    return found
